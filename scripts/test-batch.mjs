// Several test files in one process: what they import is loaded and compiled once for all of them, instead of for each.
import { AsyncResource } from 'node:async_hooks'
import { before, describe } from 'node:test'

/** Each file is a suite of its own, so that its hooks run around its own tests only. */
export async function runBatch(files) {
  let allLoaded
  const loaded = new Promise((resolve) => {
    allLoaded = resolve
  })
  // Without it what follows an import would belong to that file's suite, and the suites would lie in one another.
  const outside = new AsyncResource('test batch')
  for (const { name, url } of files) {
    let imported
    outside.runInAsyncScope(() =>
      describe(name, () => {
        // A test must not share the processor with the loading of the files after it.
        before(() => loaded)
        imported = import(url)
        return imported
      }),
    )
    // The suite reports a file that cannot be loaded.
    await imported.catch(() => {})
  }
  allLoaded()
}
