// A page that is not there yet, in the shape that most have: a title, a sentence, a list.
import { Loading } from '../ui/page.tsx'

export const PagePending = () => (
  <div className="mx-auto flex w-full max-w-[1440px] flex-col gap-5 px-4 py-6 sm:px-6 lg:px-8">
    <div className="flex flex-col gap-2" aria-hidden="true">
      <div className="skeleton h-6 w-40" />
      <div className="skeleton h-4 w-72 max-w-full" />
    </div>
    <div className="card">
      <Loading rows={8} />
    </div>
  </div>
)
