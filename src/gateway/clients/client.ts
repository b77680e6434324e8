import type { JsonObject } from '../../model/json.ts'
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
  /** Do the models return their reasoning encrypted, if the client asks for it? */
  readonly hasEncryptedReasoning?: boolean
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
  /** For a client that reads its settings from one folder only. */
  readonly overlay?: FolderOverlay
}

/** A copy of a client's own folder, with links to all that is in it but for the files that are changed. */
export interface FolderOverlay {
  /** The client's own folder. */
  readonly getSource: (home: string, env: Readonly<Record<string, string | undefined>>) => string
  readonly target: string
  /** What is merged into JSON files of the folder, by their names. */
  readonly changes: Readonly<Record<string, JsonObject>>
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
