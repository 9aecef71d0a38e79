// util.parseEnv: the text of a .env file as an object.
"use strict";

const { checkString } = require("internal/errors");

const line = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"((?:[^"])*)"|'([^']*)'|`([^`]*)`|([^\n#]*))?.*$/gm;

function parseEnv(content) {
  checkString(content, "content");
  const variables = {};
  for (const [, name, double, single, back, bare] of content.replaceAll("\r\n", "\n").matchAll(line)) {
    variables[name] = double !== undefined ? double.replaceAll("\\n", "\n") : (single ?? back ?? bare?.trim() ?? "");
  }
  return variables;
}

module.exports = { parseEnv };
