/**
 * The globals of a Pinza tool, for editors.
 *
 * A tool is a function of one object, its parameters; what it returns (or resolves to) is the result: a string
 * as it is, null and undefined as "", anything else as JSON. Refer to this file from a script with
 * `/// <reference path="…/pinza.d.ts" />`, and leave "dom" out of tsconfig's `lib`: it says the same names.
 *
 * Where a web standard has the name, it behaves as the standard says; what differs is in the comments.
 */

// ---------------------------------------------------------------- Pinza's own

/** The parameters of a tool, with the variables that its manifest declares in `env`. */
interface ToolParams {
  [name: string]: any;
  readonly _env?: Readonly<Record<string, string>>;
}

/** An error of a request to Pinza: `code` is stable, the message is for people. */
interface PinzaError extends Error {
  readonly code?:
    | "tool_not_found" | "tool_not_available" | "tool_disabled" | "validation_error" | "permission_denied"
    | "path_not_allowed" | "file_not_found" | "file_too_large" | "network_error" | "timeout" | "cancelled"
    | "memory_limit" | "output_limit" | "not_found" | "empty_group" | "interrupted" | "execution_error";
}

/** Text files of the workspace. Paths are relative to it, or absolute beneath it. Answers come at once; `await` does no harm. */
declare const fs: {
  /** The file's text (UTF-8). Throws `file_not_found`, `path_not_allowed` or `file_too_large`. */
  readFile(path: string): string;
  /** Writes the file anew and answers the number of bytes. */
  writeFile(path: string, content: string | number | boolean | bigint): number;
  /** Adds to the file's end and answers the number of bytes added. */
  appendFile(path: string, content: string | number | boolean | bigint): number;
  exists(path: string): boolean;
};

/** The time now, in a zone such as "Europe/Berlin" (default: the machine's) and a format (default: ISO 8601). */
declare function _time(timezone?: string, format?: string): string;

/** A shared script beside the tools, as a CommonJS module: it sets `module.exports` or `exports.x`, and runs once a call. */
declare function lib<T = any>(name: string): T;

/** The connected Google account. */
declare const google: {
  getAccessToken(): Promise<string>;
  getAccountEmail(): Promise<string>;
};

/** Other tools, called with the rights of this call; a result is text, as a model would read it. `tools.name(args)` is `tools.call("name", args)`. */
declare const tools: {
  call(name: string, args?: object): Promise<string>;
} & { [name: string]: (args?: object) => Promise<string> };

/** Saves what a URL answers to a file of the workspace, without passing it through the script. */
declare function downloadToFile(url: string | URL, path: string, options?: { headers?: HeadersInit }): Promise<{ bytes: number; status: number }>;

/** One part of an upload: a text, a Blob, or a file of the workspace. */
type UploadPart =
  | { name: string; value: string | number | boolean | Blob; filename?: string; type?: string }
  | { name: string; path: string; filename?: string; type?: string };

/** Sends multipart/form-data. Parts with a `path` are read by Pinza and cannot be mixed with Blobs. */
declare function uploadMultipart(url: string | URL, parts: UploadPart[] | FormData, options?: { method?: string; headers?: HeadersInit }): Promise<Response>;

// ---------------------------------------------------------------- console, timers

/** The call's log: `pinza call -v`, the journal and the web console show it. */
declare const console: {
  debug(...data: any[]): void;
  info(...data: any[]): void;
  log(...data: any[]): void;
  warn(...data: any[]): void;
  error(...data: any[]): void;
  assert(condition?: boolean, ...data: any[]): void;
  dir(value?: any): void;
  dirxml(...data: any[]): void;
  table(data?: any, columns?: string[]): void;
  trace(...data: any[]): void;
  group(...data: any[]): void;
  groupCollapsed(...data: any[]): void;
  groupEnd(): void;
  count(label?: string): void;
  countReset(label?: string): void;
  time(label?: string): void;
  timeLog(label?: string, ...data: any[]): void;
  timeEnd(label?: string): void;
  clear(): void;
};

/** Runs a function later; text is not run as code. An error that it throws goes to the log. */
declare function setTimeout<A extends any[]>(handler: (...args: A) => void, delay?: number, ...args: A): number;
declare function setInterval<A extends any[]>(handler: (...args: A) => void, delay?: number, ...args: A): number;
declare function setImmediate<A extends any[]>(handler: (...args: A) => void, ...args: A): number;
declare function clearTimeout(handle?: number): void;
declare function clearInterval(handle?: number): void;
declare function clearImmediate(handle?: number): void;
declare function queueMicrotask(callback: () => void): void;

/** The call's clock. */
declare const performance: {
  /** Milliseconds since the call began. */
  now(): number;
  readonly timeOrigin: number;
  toJSON(): { timeOrigin: number };
};

// ---------------------------------------------------------------- values and bytes

type BufferSource = ArrayBuffer | ArrayBufferView;

/** Copies Maps, Sets, Dates, buffers, errors, Blobs and cycles; functions and symbols throw a DataCloneError. */
declare function structuredClone<T>(value: T, options?: { transfer?: Iterable<ArrayBuffer> }): T;
declare function atob(data: string): string;
declare function btoa(data: string): string;

declare class TextEncoder {
  readonly encoding: "utf-8";
  encode(input?: string): Uint8Array;
  encodeInto(source: string, destination: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: BufferSource, options?: { stream?: boolean }): string;
}

declare const crypto: {
  randomUUID(): string;
  /** Fills an array of integers, at most 65536 bytes at once. */
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  readonly subtle: {
    digest(algorithm: "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512" | { name: string }, data: BufferSource): Promise<ArrayBuffer>;
  };
};

declare class DOMException extends Error {
  constructor(message?: string, name?: string);
  readonly name: string;
  readonly message: string;
  readonly code: number;
}

declare class Blob {
  constructor(parts?: Iterable<BufferSource | Blob | string>, options?: { type?: string; endings?: "transparent" | "native" });
  readonly size: number;
  readonly type: string;
  slice(start?: number, end?: number, type?: string): Blob;
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  stream(): ReadableStream;
}

declare class File extends Blob {
  constructor(bits: Iterable<BufferSource | Blob | string>, name: string, options?: { type?: string; endings?: "transparent" | "native"; lastModified?: number });
  readonly name: string;
  readonly lastModified: number;
}

/** A body as a stream. Bodies arrive whole, so there is one chunk; streams cannot be constructed. */
interface ReadableStream extends AsyncIterable<Uint8Array> {
  readonly locked: boolean;
  getReader(): {
    readonly closed: Promise<void>;
    read(): Promise<{ value: Uint8Array; done: false } | { value: undefined; done: true }>;
    cancel(): Promise<void>;
    releaseLock(): void;
  };
  cancel(): Promise<void>;
  values(): AsyncIterableIterator<Uint8Array>;
}

// ---------------------------------------------------------------- URLs

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static parse(url: string | URL, base?: string | URL): URL | null;
  static canParse(url: string | URL, base?: string | URL): boolean;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  hash: string;
  readonly searchParams: URLSearchParams;
  toString(): string;
  toJSON(): string;
}

declare class URLSearchParams {
  constructor(init?: string | Iterable<readonly [string, any]> | Record<string, any>);
  readonly size: number;
  append(name: string, value: any): void;
  delete(name: string, value?: any): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: any): boolean;
  set(name: string, value: any): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, key: string, parent: URLSearchParams) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

// ---------------------------------------------------------------- events and aborting

declare class Event {
  constructor(type: string, init?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean });
  static readonly NONE: 0;
  static readonly CAPTURING_PHASE: 1;
  static readonly AT_TARGET: 2;
  static readonly BUBBLING_PHASE: 3;
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly eventPhase: number;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  readonly isTrusted: boolean;
  readonly timeStamp: number;
  composedPath(): EventTarget[];
  stopPropagation(): void;
  stopImmediatePropagation(): void;
  preventDefault(): void;
}

type EventListener = ((event: Event) => void) | { handleEvent(event: Event): void };

/** There is no tree: an event reaches only the target that it is dispatched on. */
declare class EventTarget {
  addEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal }): void;
  removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void;
  dispatchEvent(event: Event): boolean;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: any): void;
}

declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: any): AbortSignal;
  static timeout(milliseconds: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((this: AbortSignal, event: Event) => void) | null;
  throwIfAborted(): void;
}

// ---------------------------------------------------------------- fetch

type HeadersInit = Headers | Iterable<readonly [string, string]> | Record<string, string | number | boolean>;
type BodyInit = string | URLSearchParams | FormData | Blob | BufferSource | ReadableStream;
type RequestInfo = string | URL | Request;

interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  redirect?: "follow" | "error" | "manual";
  signal?: AbortSignal | null;
}

interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}

/** What Request and Response share. A body is read once; `clone()` first to read it twice. */
interface Body {
  readonly body: ReadableStream | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array>;
  /** Only of application/x-www-form-urlencoded bodies. */
  formData(): Promise<FormData>;
  /** Rejects, and says why, if the body was cut off. */
  json(): Promise<any>;
  text(): Promise<string>;
}

/**
 * Asks a URL, which must be absolute. A refused or failed connection is a TypeError with a `code`; an HTTP
 * status such as 404 is a Response. Pinza's policy decides which hosts may be asked.
 */
declare function fetch(input: RequestInfo, init?: RequestInit): Promise<Response>;

/** Headers; no name is forbidden here, but Pinza may refuse or replace some when it sends them. */
declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, key: string, parent: Headers) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

interface Request extends Body {}
declare class Request {
  constructor(input: RequestInfo, init?: RequestInit);
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: "follow" | "error" | "manual";
  readonly signal: AbortSignal;
  clone(): Request;
}

interface Response extends Body {}
declare class Response {
  constructor(body?: BodyInit | null, init?: ResponseInit);
  static error(): Response;
  static json(data: any, init?: ResponseInit): Response;
  static redirect(url: string | URL, status?: number): Response;
  readonly type: "basic" | "default" | "error" | "opaqueredirect";
  readonly url: string;
  readonly redirected: boolean;
  readonly status: number;
  readonly ok: boolean;
  readonly statusText: string;
  readonly headers: Headers;
  /** Pinza's addition: the body was longer than the limit, and this is its beginning. */
  readonly truncated: boolean;
  clone(): Response;
}

type FormDataEntryValue = string | File;

declare class FormData {
  append(name: string, value: any): void;
  append(name: string, value: Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntryValue | null;
  getAll(name: string): FormDataEntryValue[];
  has(name: string): boolean;
  set(name: string, value: any): void;
  set(name: string, value: Blob, filename?: string): void;
  forEach(callback: (value: FormDataEntryValue, key: string, parent: FormData) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, FormDataEntryValue]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<FormDataEntryValue>;
  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]>;
}
