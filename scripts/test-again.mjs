// In a whole run a shared machine now and then does nothing for a second. A file that failed then may try again, alone.

/** What fails here once in a while is a finding: these kill, randomise and print their seeds. */
const onlyOnce = /^test\/(?:fault|fuzz|simulation)\//
/** More failures than this are not the machine's. */
const filesMax = 3

/** The failed files to run again, of processes by the files they were given; none if one of them decides the run. */
export function filesToRunAgain(names, processes) {
  const failed = [...new Set(names.flatMap((name) => processes.get(name) ?? [name]))]
  const known = new Set([...processes.values()].flat())
  const mayTry = (path) => known.has(path) && !onlyOnce.test(path)
  return failed.length <= filesMax && failed.every(mayTry) ? failed : []
}

/** A reporter for Node's test runner: a line for each file, or each process that ended as a whole, that failed. */
export default async function* failedFiles(events) {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.nesting === 0) yield `${data.name}\n`
  }
}
