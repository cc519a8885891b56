// What htmx and its extension leave to a page that is live: what is as it was stays as it is, with the focus in it, a
// form that is being filled in stays, a search has an address, a hidden page does not watch, and a refusal is shown.
(function () {
  "use strict";
  var live = document.getElementById("live");
  var state = document.getElementById("live-state");
  if (!live || !state || !window.htmx) { return; }
  var HIDDEN = 10000;
  var source = null, followed = "", timer = 0, typed = false, missed = false, closed = false;

  function say(text) { state.textContent = text; }
  function content() { return document.getElementById("content"); }
  function isSearch(element) { return element instanceof Node && element.matches("form.search"); }
  function holds(element) { return element instanceof Node && content().contains(element); }
  function isFilledIn() {
    var active = document.activeElement;
    return typed || (holds(active) && active.matches("input, select, textarea"));
  }

  htmx.createEventSource = function (url) {
    source = new EventSource(url);
    source.addEventListener("state", function (event) { followed = event.data; });
    source.addEventListener("end", function (event) {
      if (event.data !== "end") { say(event.data); }
    });
    return source;
  };

  document.addEventListener("input", function (event) { typed = typed || holds(event.target); });
  document.addEventListener("focusout", function () {
    setTimeout(function () {
      if (!missed || isFilledIn()) { return; }
      htmx.trigger(content(), "sse:changed");
    }, 0);
  });
  // A page that was just opened is read once more, as it may have changed before it was followed.
  function isAsItWas(text) {
    var read = new DOMParser().parseFromString(text, "text/html").getElementById("content");
    return read !== null && read.innerHTML === content().innerHTML;
  }
  function isShown() {
    if (missed) { say(followed); }
    missed = false;
  }
  document.addEventListener("htmx:beforeSwap", function (event) {
    var detail = event.detail;
    if (event.target !== content() || !detail.shouldSwap) { return; }
    var isSame = isAsItWas(detail.serverResponse);
    if (isSame || !isFilledIn()) {
      detail.shouldSwap = !isSame;
      return isShown();
    }
    detail.shouldSwap = false;
    missed = true;
    say("changed since this page was read; it stays while its form is filled in");
  });

  // Words of a search that were sent are no form that is being filled in: they are a part of the address.
  document.addEventListener("htmx:afterRequest", function (event) {
    if (!isSearch(event.detail.elt) || !event.detail.successful) { return; }
    var url = new URL(event.detail.pathInfo.finalRequestPath, location.href);
    ["q", "provides"].forEach(function (name) {
      event.detail.elt.elements[name].defaultValue = url.searchParams.get(name) || "";
    });
    history.replaceState(null, "", url);
    typed = false;
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
