// Bytes: views of what callers hand in, copies where the caller could change them later.

function isBuffer(value) {
  try {
    bufferBytes(value);
    return true;
  } catch {
    return false;
  }
}

// The bytes of a BufferSource, shared with it; undefined if the value is none.
function viewOf(source) {
  if (!isObject(source)) return undefined;
  if (isView(source)) {
    if (typedTag(source) === undefined) return new Uint8Array(viewBuffer(source), viewOffset(source), viewBytes(source));
    return new Uint8Array(typedBuffer(source), typedOffset(source), typedBytes(source));
  }
  return isBuffer(source) ? new Uint8Array(source) : undefined;
}

function part(bytes, start, end) {
  return new Uint8Array(typedBuffer(bytes), typedOffset(bytes) + start, end - start);
}

function copy(bytes) {
  const made = new Uint8Array(typedLength(bytes));
  typedSet(made, bytes);
  return made;
}

// The buffer of exactly these bytes; they must be the caller's own.
function exactBuffer(bytes) {
  const buffer = typedBuffer(bytes);
  return bufferBytes(buffer) === typedLength(bytes) ? buffer : typedBuffer(copy(bytes));
}

function concat(chunks) {
  let total = 0;
  for (let i = 0; i < chunks.length; i++) total += typedLength(chunks[i]);
  const made = new Uint8Array(total);
  let at = 0;
  for (let i = 0; i < chunks.length; i++) {
    typedSet(made, chunks[i], at);
    at += typedLength(chunks[i]);
  }
  return made;
}

function encodeUtf8(text) {
  return new Uint8Array(native.utf8Encode(toWellFormed(text)));
}

// Encoding §6 "UTF-8 decode": a leading byte order mark is dropped, malformed bytes become U+FFFD.
function decodeUtf8(bytes, keepMark = false) {
  return native.decode("utf-8", typedBuffer(bytes), typedOffset(bytes), typedLength(bytes), false, keepMark);
}
