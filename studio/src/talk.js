// Asks the server. Of each thing that is asked only the newest answer is wanted: the one before is called off, and the
// server stops searching for it.

const page = crypto.randomUUID();
let running = null;

// The answer, or null if something newer has been asked meanwhile.
export async function ask(kind, fields = {}) {
  running?.abort();
  const own = running = new AbortController();
  try {
    const response = await fetch(`/api/${kind}`, {
      method: "POST", signal: own.signal, headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...fields, page }),
    });
    if (!response.ok) return problem(`${response.status}: ${await response.text()}`);
    const answer = await response.json();
    return answer.cancelled || own.signal.aborted ? null : answer;
  } catch (error) {
    if (own.signal.aborted) return null;
    return problem("rex studio does not answer", "it may have been ended in its terminal");
  } finally {
    if (running === own) running = null;
  }
}

const problem = (message, hint = null) =>
  ({ errors: [{ code: "", message, hint, notes: [], start: null, end: null }] });
