// Providers by the names that people know them by, rather than by their ids.
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'

export const useProviders = () => useAsk(['providers'], () => answerOf(client.GET('/v1/providers')))

/** The id itself until the names are there, and for what is no provider any more. */
export function useProviderName(): (providerId: string) => string {
  const providers = useProviders()
  return (id) => providers.data?.find(({ providerId }) => providerId === id)?.name ?? id
}
