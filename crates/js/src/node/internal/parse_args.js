// util.parseArgs: command lines.
"use strict";

const { coded, invalidArgType, invalidArgValue } = require("internal/errors");

function parseArgs(config = {}) {
  const { args = [], options = {}, strict = true, allowPositionals = !strict, allowNegative = false, tokens: wantTokens = false } = config;
  for (const [name, option] of Object.entries(options)) {
    if (option.type !== "string" && option.type !== "boolean") throw invalidArgType(`options.${name}.type`, ["'string'", "'boolean'"], option.type);
    if (option.short !== undefined && option.short.length !== 1) throw invalidArgValue(`options.${name}.short`, option.short, "must be a single character");
  }
  const tokens = tokenize(args, options);
  const result = { values: Object.create(null), positionals: [] };
  if (wantTokens) result.tokens = tokens;
  for (const token of tokens) {
    if (token.kind === "positional") {
      if (!allowPositionals) throw coded(TypeError, "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", `Unexpected argument '${token.value}'. This command does not take positional arguments`);
      result.positionals.push(token.value);
    } else if (token.kind === "option") store(result.values, token, options, strict, allowNegative);
  }
  for (const [name, option] of Object.entries(options)) if (option.default !== undefined && result.values[name] === undefined) result.values[name] = option.default;
  return result;
}

function tokenize(args, options) {
  const tokens = [];
  const queue = args.map((argument, index) => ({ argument: `${argument}`, index }));
  const byShort = (letter) => Object.keys(options).find((name) => options[name].short === letter) ?? letter;
  const takesValue = (name) => options[name]?.type === "string";
  const isOption = (text) => text !== undefined && text.length > 1 && text.startsWith("-");
  const option = (name, rawName, index, value, inlineValue) => tokens.push({ kind: "option", name, rawName, index, value, inlineValue });
  while (queue.length > 0) {
    const { argument, index } = queue.shift();
    if (argument === "--") {
      tokens.push({ kind: "option-terminator", index });
      for (const rest of queue.splice(0)) tokens.push({ kind: "positional", index: rest.index, value: rest.argument });
    } else if (argument.startsWith("--")) {
      const equals = argument.indexOf("=", 3);
      const name = argument.slice(2, equals < 0 ? undefined : equals);
      if (equals >= 0) option(name, `--${name}`, index, argument.slice(equals + 1), true);
      else if (takesValue(name) && queue.length > 0 && !isOption(queue[0].argument)) option(name, argument, index, queue.shift().argument, false);
      else option(name, argument, index, undefined, undefined);
    } else if (isOption(argument)) {
      const name = byShort(argument[1]);
      if (argument.length === 2) {
        if (takesValue(name) && queue.length > 0 && !isOption(queue[0].argument)) option(name, argument, index, queue.shift().argument, false);
        else option(name, argument, index, undefined, undefined);
      } else if (takesValue(name)) option(name, argument.slice(0, 2), index, argument.slice(2), true);
      else {
        option(name, argument.slice(0, 2), index, undefined, undefined);
        queue.unshift({ argument: `-${argument.slice(2)}`, index });
      }
    } else tokens.push({ kind: "positional", index, value: argument });
  }
  return tokens;
}

function store(values, { name, rawName, value }, options, strict, allowNegative) {
  if (allowNegative && rawName.startsWith("--no-") && value === undefined && options[name.slice(3)]?.type === "boolean") {
    name = name.slice(3);
    value = false;
  }
  if (strict) check(name, rawName, value, options);
  if (name === "__proto__") return;
  const kept = value ?? true;
  if (options[name]?.multiple) (values[name] ??= []).push(kept);
  else values[name] = kept;
}

function check(name, rawName, value, options) {
  if (!Object.hasOwn(options, name)) throw coded(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${rawName}'`);
  const { type, short } = options[name];
  const shown = `${short ? `-${short}, ` : ""}--${name}`;
  if (type === "string" && typeof value !== "string") throw coded(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${shown} <value>' argument missing`);
  if (type === "boolean" && typeof value === "string") throw coded(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${shown}' does not take an argument`);
}

module.exports = { parseArgs };
