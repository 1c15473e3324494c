// How the dashboard is built: relative addresses, so that it works below any path; and served while it is developed.
// This is Vite 7 with Rolldown as its bundler: a first start waits for the build (docs/decisions/0055-the-dashboard.md).
import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

const service = process.env.POSTHORN_URL ?? 'http://localhost:3000'
const proxied = Object.fromEntries(
  ['/v1', '/v2', '/message-frame', '/health', '/ready', '/docs'].map((path) => [path, service]),
)

export default defineConfig({
  base: './',
  plugins: [tailwindcss()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rollupOptions: { output: { legalComments: 'none' } },
  },
  server: { proxy: proxied },
})
