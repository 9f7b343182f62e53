import { setupManifest } from '@start9labs/start-sdk'
import { description } from './description'

export const manifest = setupManifest({
  id: description.id,
  title: description.title,
  license: description.license,
  packageRepo: description.repository,
  upstreamRepo: description.repository,
  marketingUrl: description.website,
  donationUrl: null,
  description: { short: description.short, long: description.long },
  volumes: ['main'],
  images: {
    clock: {
      source: { dockerTag: description.image },
      arch: ['x86_64', 'aarch64'],
    },
  },
  alerts: {
    install: null,
    update: null,
    uninstall: null,
    restore: null,
    start: null,
    stop: null,
  },
  dependencies: {},
})
