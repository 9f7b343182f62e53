import { description } from './description'
import { sdk } from './sdk'

export const HOST = 'page-host'
export const PAGE = 'page'

export const setInterfaces = sdk.setupInterfaces(async ({ effects }) => {
  const host = sdk.MultiHost.of(effects, HOST)
  const origin = await host.bindPort(description.port, { protocol: 'http' })
  const page = sdk.createInterface(effects, {
    name: 'Page',
    id: PAGE,
    description: 'The panels, controls and settings of the clock',
    type: 'ui',
    masked: false,
    schemeOverride: null,
    username: null,
    path: '',
    query: {},
  })
  return [await origin.export([page])]
})
