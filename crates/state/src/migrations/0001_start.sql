-- Times are milliseconds since 1970.

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  agent TEXT,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  -- What the agent keeps of a session beside its messages, as JSON: loaded groups, provider, spending.
  state TEXT NOT NULL
) STRICT;

CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  role TEXT NOT NULL,
  -- The agent's own form, as JSON.
  body TEXT NOT NULL,
  -- What can be searched.
  text TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (session, seq)
) STRICT;

CREATE VIRTUAL TABLE messages_text USING fts5 (text, content = 'messages', content_rowid = 'id', tokenize = 'porter unicode61');
CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
  INSERT INTO messages_text (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER messages_removed AFTER DELETE ON messages BEGIN
  INSERT INTO messages_text (messages_text, rowid, text) VALUES ('delete', old.id, old.text);
END;

CREATE TABLE memory (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;

CREATE VIRTUAL TABLE memory_text USING fts5 (text, content = 'memory', content_rowid = 'id', tokenize = 'porter unicode61');
CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
  INSERT INTO memory_text (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
  INSERT INTO memory_text (memory_text, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER memory_changed AFTER UPDATE ON memory BEGIN
  INSERT INTO memory_text (memory_text, rowid, text) VALUES ('delete', old.id, old.text);
  INSERT INTO memory_text (rowid, text) VALUES (new.id, new.text);
END;

CREATE TABLE calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- Which running Pinza made it, and its number there.
  instance TEXT NOT NULL,
  serial INTEGER NOT NULL,
  call TEXT NOT NULL,
  session TEXT,
  caller TEXT NOT NULL,
  tool TEXT NOT NULL,
  arguments TEXT,
  decisions TEXT NOT NULL DEFAULT '[]',
  started INTEGER NOT NULL,
  ended INTEGER,
  -- running, success, or an error's code.
  status TEXT NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  UNIQUE (instance, serial)
) STRICT;
CREATE INDEX calls_started ON calls (started);
CREATE INDEX calls_session ON calls (session, id) WHERE session IS NOT NULL;
CREATE INDEX calls_running ON calls (instance) WHERE status = 'running';
