// Starts the dashboard.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api.ts'
import { createDashboardRouter } from './router.tsx'
import { sessionsKey } from './session.tsx'
import './styles.css'
import { showTheme } from './theme.ts'
import { Toasts } from './ui/toast.tsx'

showTheme()

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 1 && error instanceof ApiError && (error.status === 503 || error.status === 0),
    },
  },
})
// A session that has ended is noticed by whichever call comes first: the page then asks to sign in again.
queries.getQueryCache().subscribe(({ query }) => {
  const { error } = query.state
  const isEnded = error instanceof ApiError && error.status === 401 && query.queryKey[0] !== sessionsKey[0]
  if (isEnded) void queries.invalidateQueries({ queryKey: sessionsKey })
})

queries.getMutationCache().subscribe(({ mutation }) => {
  const error = mutation?.state.error
  if (error instanceof ApiError && error.status === 401) void queries.invalidateQueries({ queryKey: sessionsKey })
})

const root = document.getElementById('app')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={createDashboardRouter()} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  )
}
