// Which test files share a process, and in which order the processes run.

/** Files that start processes, measure the machine or read the whole project: a neighbour would disturb them. */
const aloneFolders = [
  'bench',
  'browser',
  'dashboard',
  'db',
  'docs',
  'fault',
  'fuzz',
  'inbox',
  'package',
  'realtime',
  'simulation',
  'tidy',
  'upgrade',
]
/** The line by which a file asks for a process of its own, with the reason. */
const aloneLine = /^\/\/ Runs in a process of its own: /m
/** Enough to load the service's modules seldom; few enough that a process ends long before the time a file may take. */
const filesPerBatch = 12

/** Whether a test file has a process of its own. */
export const runsAlone = (path, text) =>
  aloneFolders.some((folder) => path.startsWith(`test/${folder}/`)) || aloneLine.test(text)

/** Lists of paths, one list for each process. Files that stand together are run together: they import much the same. */
export function planOf(paths, textOf, processesAtOnce) {
  const alone = paths.filter((path) => runsAlone(path, textOf(path)))
  const together = paths.filter((path) => !alone.includes(path))
  // A handful of files is shared out among all processes: no one wants to wait for one of them.
  const size = Math.max(1, Math.min(filesPerBatch, Math.ceil(together.length / processesAtOnce)))
  const batches = []
  for (let start = 0; start < together.length; start += size) batches.push(together.slice(start, start + size))
  return interleaved(
    alone.map((path) => [path]),
    batches,
  )
}

/** Evenly mixed: files that run alone often wait, and what runs beside them uses the processor meanwhile. */
function interleaved(first, second) {
  const place = (list) => list.map((item, index) => ({ item, at: (index + 0.5) / list.length }))
  return [...place(first), ...place(second)].sort((a, b) => a.at - b.at).map(({ item }) => item)
}
