// What htmx and its extension leave to a page that is live: a form that is being filled in stays, a hidden page
// does not watch, and a refusal is shown.
(function () {
  "use strict";
  var live = document.getElementById("live");
  var state = document.getElementById("live-state");
  if (!live || !state || !window.htmx) { return; }
  var HIDDEN = 10000;
  var source = null, timer = 0, typed = false, missed = false, closed = false;

  function say(text) { state.textContent = text; }
  function content() { return document.getElementById("content"); }
  function holds(element) { return element instanceof Node && content().contains(element); }
  function isFilledIn() {
    var active = document.activeElement;
    return typed || (holds(active) && active.matches("input, select, textarea"));
  }

  htmx.createEventSource = function (url) {
    source = new EventSource(url);
    source.addEventListener("end", function (event) {
      if (event.data !== "end") { say(event.data); }
    });
    return source;
  };

  document.addEventListener("input", function (event) { typed = typed || holds(event.target); });
  document.addEventListener("focusout", function () {
    setTimeout(function () {
      if (!missed || isFilledIn()) { return; }
      missed = false;
      htmx.trigger(content(), "sse:changed");
    }, 0);
  });
  document.addEventListener("htmx:beforeRequest", function (event) {
    if (event.target !== content() || !isFilledIn()) { return; }
    event.preventDefault();
    missed = true;
    say("changed since this page was read; it stays while its form is filled in");
  });
  document.addEventListener("htmx:responseError", function (event) {
    say("not live: the console answers " + event.detail.xhr.status + "; reload this page");
  });

  // An EventSource keeps the text of a refusal to itself.
  function refusal() {
    var asked = new AbortController();
    fetch(live.getAttribute("sse-connect"), { signal: asked.signal }).then(function (answer) {
      if (answer.ok) { return asked.abort(); }
      var type = answer.headers.get("content-type") || "";
      if (type.indexOf("text/plain") !== 0) {
        return say("not live: the console answers " + answer.status + "; reload this page");
      }
      return answer.text().then(function (text) { say(text.trim()); });
    }).catch(function () {});
  }
  document.addEventListener("htmx:sseError", function () {
    if (closed) { return; }
    say("not live: the console does not answer; it is asked again");
    if (source && source.readyState === EventSource.CLOSED) { refusal(); }
  });

  // A browser has few connections to a server: those of pages that are not looked at are given back.
  document.addEventListener("visibilitychange", function () {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(function () {
        closed = true;
        if (source) { source.close(); }
        say("not live: this page was hidden; reload it");
      }, HIDDEN);
    } else if (closed && !isFilledIn()) {
      location.reload();
    }
  });
})();
