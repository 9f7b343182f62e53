import { VersionGraph, VersionInfo } from '@start9labs/start-sdk'
import { description } from './description'

// The clock migrates its data itself, upwards only.
const current = VersionInfo.of({
  version: description.version,
  releaseNotes: `${description.repository}/releases`,
  migrations: { up: async () => {}, down: async () => {} },
})

export const versionGraph = VersionGraph.of({ current, other: [] })
