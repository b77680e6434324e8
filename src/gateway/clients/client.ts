import type { WireId } from '../../model/turn.ts'

/** Where a client finds the gateway. */
export interface GatewayAddress {
  /** Without a vendor's path. */
  readonly url: string
  readonly token: string
  /** The models that the gateway lists; the first one is for clients that must name one. */
  readonly models: readonly string[]
  /** The API to speak, for a client that has several; its first one if absent. */
  readonly wire?: WireId
  /** A private folder for files of this client. */
  readonly folder: string
}

/** What points a client to the gateway. Nothing of the user's own configuration is changed. */
export interface ClientSetup {
  readonly env: Readonly<Record<string, string>>
  /** Variables that would point it elsewhere. */
  readonly unset?: readonly string[]
  /** Before the user's own arguments. */
  readonly args: readonly string[]
  /** Files in `folder`, by name. */
  readonly files?: Readonly<Record<string, string>>
}

/** Another agent that can use the gateway. */
export interface GatewayClient {
  /** Its command. */
  readonly id: string
  readonly title: string
  /** The APIs that it can speak; it uses the first one. */
  readonly wires: readonly WireId[]
  readonly setUp: (address: GatewayAddress) => ClientSetup
}

/** The model to ask for, if a client must name one: any name has a route if the gateway has one for everything. */
export function getFirstModel({ models }: Pick<GatewayAddress, 'models'>): string {
  return models[0] ?? 'default'
}
