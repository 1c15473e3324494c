// In a whole run a shared machine now and then does nothing for a second. A file that failed then may try again, alone.

/** What fails here once in a while is a finding: these kill processes, or randomise and print their seeds. */
const onlyOnce = /^test\/(?:fault|fuzz|simulation)\//
const killsOrRandomises = /fuzzSeed|SIGKILL/
/** More failures than this are not the machine's. */
const filesMax = 3
/** The last line of the reporter. */
const ended = 'end'

/**
 * The failed files to run again; none if one of them must not be. `report` is what the reporter wrote, `processes` the files that each
 * process was given. A process that ended early is not always reported: unless every file was, no one knows what the others would have said.
 */
export function filesToRunAgain(report, processes, textOf) {
  const reported = linesOf(report)
  if (!report.endsWith(`${ended}\n`)) return []
  const pathsOf = (name) => processes.get(name) ?? [name]
  const seen = new Set(reported.flatMap(({ name }) => pathsOf(name)))
  const known = [...processes.values()].flat()
  const failed = [...new Set(reported.flatMap(({ isPassed, name }) => (isPassed ? [] : pathsOf(name))))]
  const mayTry = (path) => known.includes(path) && !onlyOnce.test(path) && !killsOrRandomises.test(textOf(path))
  return known.every((path) => seen.has(path)) && failed.length <= filesMax && failed.every(mayTry) ? failed : []
}

/**
 * Files of which nothing was heard by their own name. A test that ends its process with 0 is taken for one that passed, and so are the
 * failures before it and the files after it.
 */
export function unheardFiles(report, processes) {
  const heard = new Set(linesOf(report).map(({ name }) => name))
  return [...processes.values()].flat().filter((path) => !heard.has(path))
}

const linesOf = (report) =>
  report
    .split('\n')
    .filter((line) => line !== '' && line !== ended)
    .map((line) => ({ isPassed: line.startsWith('pass '), name: line.slice(5) }))

/** A reporter for Node's test runner: a line for each file, or each process that ended as a whole, and one at the end. */
export default async function* reportedFiles(events) {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.nesting === 0) yield `fail ${data.name}\n`
    if (type === 'test:pass' && data.nesting === 0) yield `pass ${data.name}\n`
  }
  yield `${ended}\n`
}
