// A page that broke, or whose code could not be loaded: the frame around it stays.
import { Failed } from '../ui/page.tsx'

/** Browsers word it each in their own way. */
const notLoaded = /dynamically imported module|importing a module script|module script failed/i

export function PageFault({ error }: { error: unknown }) {
  const fault = error instanceof Error ? error : new Error(String(error))
  const shown = notLoaded.test(fault.message)
    ? new Error('This page could not be loaded: the service cannot be reached, or it was updated since you opened it.')
    : fault
  return <Failed error={shown} retry={() => location.reload()} />
}
