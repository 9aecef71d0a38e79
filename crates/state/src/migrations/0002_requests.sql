-- What requests to models had in them, for receipts: written once, when it happens.

CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  created INTEGER NOT NULL,
  -- The agent's own form, as JSON: provider, model, what the provider counted.
  body TEXT NOT NULL,
  -- The pieces of each part of it, as JSON: {"tools": [[1, 12]], …}, runs of their numbers.
  parts TEXT NOT NULL
) STRICT;
CREATE INDEX requests_session ON requests (session, id);

-- The texts that requests are made of: each is in many requests, and kept once.
CREATE TABLE pieces (
  session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  digest BLOB NOT NULL,
  -- The agent's own form, as JSON: what kind of piece it is.
  about TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (session, number),
  UNIQUE (session, digest)
) STRICT;
