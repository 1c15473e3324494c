// A page that broke: the frame around it stays.
import { Failed } from '../ui/page.tsx'

export const PageFault = ({ error }: { error: unknown }) => (
  <Failed error={error instanceof Error ? error : new Error(String(error))} retry={() => location.reload()} />
)
