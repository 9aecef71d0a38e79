// Readable's pipe and unpipe: a target that is full makes its source wait.
"use strict";

const { errorOrDestroy } = require("internal/stream_base");
const { nextTick } = require("internal/next_tick");

function install(Readable) {
  Readable.prototype.pipe = function (target, options) {
    const source = this;
    const state = this._readableState;
    state.pipes.push(target);
    const ends = options?.end !== false;
    let drainListener;

    const pauseFor = () => {
      state.awaiting.add(target);
      source.pause();
      if (drainListener !== undefined) return;
      drainListener = () => {
        state.awaiting.delete(target);
        if (state.awaiting.size === 0 && source.listenerCount("data") > 0) source.resume();
      };
      target.on("drain", drainListener);
    };
    const onData = (chunk) => {
      if (target.write(chunk) === false) pauseFor();
    };
    const onEnd = () => target.end();
    const unpipe = () => source.unpipe(target);
    const onError = (error) => {
      unpipe();
      target.removeListener("error", onError);
      if (target.listenerCount("error") > 0) return;
      const targetState = target._writableState ?? target._readableState;
      if (targetState && !targetState.errorEmitted) errorOrDestroy(target, error);
      else target.emit("error", error);
    };
    const onClose = () => {
      target.removeListener("finish", onFinish);
      unpipe();
    };
    const onFinish = () => {
      target.removeListener("close", onClose);
      unpipe();
    };
    const cleanup = () => {
      target.removeListener("close", onClose);
      target.removeListener("finish", onFinish);
      if (drainListener !== undefined) target.removeListener("drain", drainListener);
      target.removeListener("error", onError);
      target.removeListener("unpipe", onUnpipe);
      source.removeListener("end", ends ? onEnd : unpipe);
      source.removeListener("data", onData);
      if (drainListener !== undefined && state.awaiting.has(target)) drainListener();
    };
    const onUnpipe = (readable, info) => {
      if (readable !== source || info?.hasUnpiped !== false) return;
      info.hasUnpiped = true;
      cleanup();
    };

    const after = ends ? onEnd : unpipe;
    if (state.endEmitted) nextTick(after);
    else source.once("end", after);
    target.on("unpipe", onUnpipe);
    source.on("data", onData);
    target.prependListener("error", onError);
    target.once("close", onClose);
    target.once("finish", onFinish);
    target.emit("pipe", source);
    if (target.writableNeedDrain === true) pauseFor();
    else if (!state.flowing) source.resume();
    return target;
  };

  Readable.prototype.unpipe = function (target) {
    const state = this._readableState;
    if (state.pipes.length === 0) return this;
    const gone = target === undefined ? state.pipes.splice(0) : state.pipes.includes(target) ? [state.pipes.splice(state.pipes.indexOf(target), 1)[0]] : [];
    if (target === undefined || (gone.length > 0 && state.pipes.length === 0)) this.pause();
    for (const one of gone) one.emit("unpipe", this, { hasUnpiped: false });
    return this;
  };
}

module.exports = { install };
