import { isObject } from '../../../model/json.ts'
import type { RemoteTool } from './filter-tools.ts'
import type { KeyValueStore } from '../client/key-value-store.ts'
import { sha256Hex } from '../../../host/files/sha256.ts'

export type ToolPins = ReturnType<typeof createToolPins>

/** Tools as they were when they were approved. A changed tool must be approved again. */
export function createToolPins(store: KeyValueStore) {
  const cache = new Map<string, Map<string, ToolPin>>()

  function getPins(server: string): Map<string, ToolPin> {
    const pins = cache.get(server) ?? loadPins(store, server)
    cache.set(server, pins)
    return pins
  }

  function save(server: string, pins: ReadonlyMap<string, ToolPin>): void {
    store.set(getPinKey(server), Object.fromEntries([...pins].map(([name, pin]) => [name, { ...pin }])))
  }

  return {
    /** The difference from what was approved; undefined if there is none, or no approval. */
    diffFromApproved(server: string, tool: RemoteTool, identity: string): string | undefined {
      const pin = getPins(server).get(tool.name)
      if (!pin) return undefined
      const text = describeTool(tool, identity)
      return pin.hash === sha256Hex(text) ? undefined : diffLines(pin.text, text)
    },
    approve(server: string, tool: RemoteTool, identity: string): void {
      const text = describeTool(tool, identity)
      const hash = sha256Hex(text)
      const pins = getPins(server)
      if (pins.get(tool.name)?.hash === hash) return
      pins.set(tool.name, { hash, text: text.slice(0, MAX_PIN_CHARS) })
      save(server, pins)
    },
    /** Forgets the approvals of a server; returns how many there were. */
    forget(server: string): number {
      const { size } = getPins(server)
      cache.set(server, new Map())
      save(server, new Map())
      return size
    },
  }
}

interface ToolPin {
  readonly hash: string
  readonly text: string
}

const MAX_PIN_CHARS = 20_000

function getPinKey(server: string): string {
  return `pins-${server}`
}

/** Everything that a model or a user judges a tool by, and how its server is started. */
function describeTool({ name, description, schema }: RemoteTool, identity: string): string {
  return [`server: ${identity}`, `name: ${name}`, description, JSON.stringify(schema, undefined, 2)].join('\n')
}

function loadPins(store: KeyValueStore, server: string): Map<string, ToolPin> {
  const stored = store.get(getPinKey(server))
  const pins = Object.entries(isObject(stored) ? stored : {}).flatMap(([name, pin]) => {
    if (!isObject(pin)) return []
    const { hash, text } = pin
    return typeof hash === 'string' && typeof text === 'string' ? [[name, { hash, text }] as const] : []
  })
  return new Map(pins)
}

function diffLines(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const [oldLines, newLines] = [new Set(old), new Set(now)]
  const removed = old.filter((line) => !newLines.has(line)).map((line) => `- ${line}`)
  const added = now.filter((line) => !oldLines.has(line)).map((line) => `+ ${line}`)
  return [...removed, ...added].join('\n')
}
