import { description } from './description'
import { HOST, PAGE } from './interfaces'
import { sdk } from './sdk'

export const main = sdk.setupMain(async ({ effects }) => {
  // The clock refuses host names that it does not know. StartOS restarts the service when these addresses change.
  const urls = await sdk.host
    .getOwn(effects, HOST, (host) =>
      host?.bindings[description.port]?.interfaces[PAGE]?.addressInfo.format(),
    )
    .const()

  const mounts = sdk.Mounts.of().mountVolume({
    volumeId: 'main',
    subpath: null,
    mountpoint: '/data',
    readonly: false,
  })
  const container = await sdk.SubContainer.of(effects, { imageId: 'clock' }, mounts, 'clock')

  return sdk.Daemons.of(effects).addDaemon('clock', {
    subcontainer: container,
    exec: {
      command: ['papertick', 'run'],
      user: 'root',
      env: { ...description.environment, PAPERTICK_PUBLIC_URL: (urls ?? []).join(',') },
    },
    ready: {
      display: 'Page',
      fn: () =>
        sdk.healthCheck.checkWebUrl(effects, `http://127.0.0.1:${description.port}/healthz`, {
          successMessage: 'The page responds',
          errorMessage: 'The page does not respond',
        }),
    },
    requires: [],
  })
})
