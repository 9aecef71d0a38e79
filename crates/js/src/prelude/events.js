// Event and EventTarget (DOM §2), for a world without a tree: a target's only path is itself.

const loadEvents = once(function () {
  let isEvent, dispatch, fire, listen;

  class Event {
    #type;
    #bubbles;
    #cancelable;
    #composed;
    #target = null;
    #phase = 0;
    #canceled = false;
    #stopped = false;
    #stoppedNow = false;
    #passive = false;
    #dispatching = false;
    #trusted = false;
    #time = native.now();

    constructor(type, init = undefined) {
      needs(1, arguments.length, "Event");
      const { bubbles = false, cancelable = false, composed = false } = dictionary(init, "Event: init");
      this.#type = `${type}`;
      this.#bubbles = !!bubbles;
      this.#cancelable = !!cancelable;
      this.#composed = !!composed;
    }

    get type() { return this.#type; }
    get target() { return this.#target; }
    get srcElement() { return this.#target; }
    get currentTarget() { return this.#phase === 0 ? null : this.#target; }
    get eventPhase() { return this.#phase; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get composed() { return this.#composed; }
    get defaultPrevented() { return this.#canceled; }
    get isTrusted() { return this.#trusted; }
    get timeStamp() { return this.#time; }
    get returnValue() { return !this.#canceled; }
    set returnValue(value) { if (!value) this.#cancel(); }
    get cancelBubble() { return this.#stopped; }
    set cancelBubble(value) { if (value) this.#stopped = true; }
    composedPath() { return this.#phase === 0 ? [] : [this.#target]; }
    stopPropagation() { this.#stopped = true; }
    stopImmediatePropagation() { this.#stopped = this.#stoppedNow = true; }
    preventDefault() { this.#cancel(); }
    #cancel() { if (this.#cancelable && !this.#passive) this.#canceled = true; }

    static {
      isEvent = (value) => isObject(value) && #type in value;
      // DOM §2.9 "dispatch", reduced to the target itself.
      dispatch = (event, target, listeners, trusted) => {
        event.#trusted = trusted;
        if (event.#dispatching) throw new DOMException("The event is already being dispatched", "InvalidStateError");
        event.#dispatching = true;
        event.#target = target;
        event.#phase = 2;
        const current = list();
        for (let i = 0; i < listeners.length; i++) push(current, listeners[i]);
        for (let i = 0; i < current.length && !event.#stoppedNow; i++) {
          const listener = current[i];
          if (listener.removed || listener.type !== event.#type) continue;
          if (listener.once) listener.remove();
          event.#passive = listener.passive;
          invoke(listener.callback, event, target);
          event.#passive = false;
        }
        event.#phase = 0;
        event.#dispatching = event.#stopped = event.#stoppedNow = false;
        return !event.#canceled;
      };
    }
  }
  constants(Event, { __proto__: null, NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 });
  expose(Event, "Event", (event) => ({ __proto__: null, type: event.type, defaultPrevented: event.defaultPrevented }));

  function invoke(callback, event, target) {
    try {
      if (typeof callback === "function") apply(callback, target, [event]);
      else apply(callback.handleEvent, callback, [event]);
    } catch (error) {
      report(error);
    }
  }

  class EventTarget {
    #listeners = list();

    addEventListener(type, callback, options = undefined) {
      needs(2, arguments.length, "addEventListener");
      const { capture = false, once = false, passive = false, signal } = listenerOptions(options);
      const abort = signal === undefined ? undefined : loadAbort();
      if (abort !== undefined && abort.isAborted(signal)) return;
      if (callback === null || callback === undefined) return;
      if (!isObject(callback)) throw new TypeError("addEventListener: the listener must be a function or an object");
      const listeners = this.#listeners;
      type = `${type}`;
      if (indexOfListener(listeners, type, callback, !!capture) >= 0) return;
      const listener = { __proto__: null, type, callback, capture: !!capture, once: !!once, passive: !!passive, removed: false };
      listener.remove = () => removeAt(listeners, indexOfListener(listeners, type, callback, listener.capture));
      push(listeners, listener);
      if (abort !== undefined) abort.whenAborted(signal, listener.remove);
    }

    removeEventListener(type, callback, options = undefined) {
      needs(2, arguments.length, "removeEventListener");
      const { capture = false } = listenerOptions(options);
      removeAt(this.#listeners, indexOfListener(this.#listeners, `${type}`, callback, !!capture));
    }

    dispatchEvent(event) {
      const listeners = this.#listeners;
      if (!isEvent(event)) throw new TypeError("dispatchEvent: the argument must be an Event");
      return dispatch(event, this, listeners, false);
    }

    static {
      const { addEventListener } = EventTarget.prototype;
      listen = (target, type, callback) => apply(addEventListener, target, [type, callback]);
      fire = (target, type) => dispatch(new Event(type), target, target.#listeners, true);
    }
  }
  expose(EventTarget, "EventTarget");

  function listenerOptions(options) {
    if (typeof options === "boolean") return { __proto__: null, capture: options };
    return dictionary(options, "The listener's options");
  }

  function indexOfListener(listeners, type, callback, capture) {
    for (let i = 0; i < listeners.length; i++) {
      const known = listeners[i];
      if (known.type === type && known.callback === callback && known.capture === capture) return i;
    }
    return -1;
  }

  function removeAt(listeners, index) {
    if (index < 0) return;
    listeners[index].removed = true;
    for (let i = index; i + 1 < listeners.length; i++) listeners[i] = listeners[i + 1];
    listeners.length -= 1;
  }

  // `fire` dispatches an event that the platform itself made.
  return { __proto__: null, Event, EventTarget, fire, listen };
});
lazyGlobals(loadEvents, "Event", "EventTarget");
