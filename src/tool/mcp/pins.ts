import { createHash } from 'node:crypto'
import { isObject } from '../../model/json.ts'
import type { RemoteTool } from './gate.ts'
import type { Shelf } from './shelf.ts'

/** What tools were when they were approved. A tool that is not that any more must be approved again. */
export interface Pins {
  /** What is different from what was approved; nothing if nothing is, or if it was never approved. */
  difference(server: string, tool: RemoteTool, identity: string): string | undefined
  approve(server: string, tool: RemoteTool, identity: string): void
  /** Forgets all that was approved of a server; of how many tools. */
  forget(server: string): number
}

/** Keeps what was approved on a shelf, a server under its name. */
export function keepPins(shelf: Shelf): Pins {
  const known = new Map<string, Map<string, Pin>>()

  function of(server: string): Map<string, Pin> {
    const pins = known.get(server) ?? readPins(shelf, server)
    known.set(server, pins)
    return pins
  }

  function save(server: string, pins: ReadonlyMap<string, Pin>): void {
    shelf.set(keyOf(server), Object.fromEntries([...pins].map(([name, pin]) => [name, { ...pin }])))
  }

  return {
    difference(server, tool, identity) {
      const pin = of(server).get(tool.name)
      if (!pin) return undefined
      const text = textOf(tool, identity)
      return pin.hash === hashOf(text) ? undefined : lineDifference(pin.text, text)
    },
    approve(server, tool, identity) {
      const text = textOf(tool, identity)
      const hash = hashOf(text)
      const pins = of(server)
      if (pins.get(tool.name)?.hash === hash) return
      pins.set(tool.name, { hash, text: text.slice(0, MAX_TEXT) })
      save(server, pins)
    },
    forget(server) {
      const { size } = of(server)
      known.set(server, new Map())
      save(server, new Map())
      return size
    },
  }
}

interface Pin {
  readonly hash: string
  readonly text: string
}

const MAX_TEXT = 20_000

function keyOf(server: string): string {
  return `pins-${server}`
}

/** All that a model and a person go by when they use a tool; and how its server is started. */
function textOf({ name, description, schema }: RemoteTool, identity: string): string {
  return [`server: ${identity}`, `name: ${name}`, description, JSON.stringify(schema, undefined, 2)].join('\n')
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function readPins(shelf: Shelf, server: string): Map<string, Pin> {
  const kept = shelf.get(keyOf(server))
  const pins = Object.entries(isObject(kept) ? kept : {}).flatMap(([name, pin]) => {
    if (!isObject(pin)) return []
    const { hash, text } = pin
    return typeof hash === 'string' && typeof text === 'string' ? [[name, { hash, text }] as const] : []
  })
  return new Map(pins)
}

/** The lines that went and the lines that came. */
function lineDifference(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const [had, has] = [new Set(old), new Set(now)]
  const gone = old.filter((line) => !has.has(line)).map((line) => `- ${line}`)
  const come = now.filter((line) => !had.has(line)).map((line) => `+ ${line}`)
  return [...gone, ...come].join('\n')
}
