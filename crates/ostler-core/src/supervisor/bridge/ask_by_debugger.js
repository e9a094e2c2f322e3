// Asks by standing still: the supervisor sees the pause, reads `proof` and `question`, and later sets `answer` and
// resumes. `seen` tells apart nobody having looked, so that the native dialog must ask, from somebody having let us go
// on without an answer, which counts as Cancel.
function ostlerBridgeAsk(question) {
  const proof = key;
  let seen = false;
  let answer = null;
  debugger;
  return seen ? { __proto__: null, accept: false, ...answer } : null;
}
