// How the dashboard is built: relative addresses, so that it works below any path; and served while it is developed.
import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

const service = process.env.POSTHORN_URL ?? 'http://localhost:3000'
const proxied = Object.fromEntries(
  ['/v1', '/v2', '/message-frame', '/health', '/ready', '/docs'].map((path) => [path, service]),
)

export default defineConfig({
  base: './',
  plugins: [tailwindcss()],
  esbuild: { jsx: 'automatic', legalComments: 'none' },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: { proxy: proxied },
})
