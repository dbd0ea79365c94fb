/* Browsers start no workers for pages that were opened as files. The search of this site wants one, so there a hidden
   frame plays the worker: it loads the same script, and messages go between the frame and the page. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      this.inner = frame.contentWindow
      const page = this.inner.document
      page.open()
      page.write("<!doctype html><body></body>")
      page.close()
      this.inner.postMessage = data => this.tell(data)
      this.inner.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve())
      this.loaded = this.load(url)
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inner.document.createElement("script")
        script.src = new URL(url, document.baseURI).href
        script.onload = resolve
        script.onerror = () => reject(new Error("cannot load " + url))
        this.inner.document.body.append(script)
      })
    }
    tell(data) {
      const event = new MessageEvent("message", { data })
      this.dispatchEvent(event)
      if (this.onmessage) this.onmessage(event)
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })))
    }
    terminate() {
      this.inner.frameElement.remove()
    }
  }
}
