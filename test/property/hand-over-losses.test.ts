import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import { handOverRequest } from '../../src/wire/hand-over/hand-over-request.ts'
import { wires } from '../support/cases.ts'
import { BODY_RULES, REQUEST_BODIES } from '../support/request-bodies.ts'
import { WIRES } from '../support/seals.ts'
import { listUnknownMembers } from '../support/unknown-members.ts'

describe('what only one API understands is named when a request goes to another one', () => {
  for (const source of WIRES)
    it(source, () => {
      const dropped: string[] = []
      const others = WIRES.filter((wire) => wire !== source)
      const counts = { kept: 0, named: 0, inside: 0 }
      for (const body of REQUEST_BODIES[source])
        for (const [at, { path, marker, body: changed }] of listUnknownMembers(body, BODY_RULES[source]).entries()) {
          const { request, warnings } = wires[source].readRequest(changed)
          const target = others[at % others.length] ?? source
          const handed = handOverRequest(request, wires[target], wires[target].profile)
          const messages = [...warnings, ...handed.warnings].map(({ message }) => message)
          if (JSON.stringify(handed.body).includes(marker)) counts.kept++
          else if (messages.some((message) => message.includes(marker))) counts.named++
          else if (findHolders(request, marker).some((name) => messages.some((message) => message.includes(name))))
            counts.inside++
          else dropped.push(`${path} to ${target}`)
        }
      console.log(`${source}: ${counts.kept} kept, ${counts.named} named, ${counts.inside} inside of what is named`)
      assert.deepEqual(dropped.slice(0, 20), [], `${dropped.length} dropped`)
    })
})

/** The names of what has the marker somewhere inside: the type of an item, or the name of a field. */
function findHolders(request: ModelRequest, marker: string): string[] {
  const holders = new Set<string>()
  const visit = (value: unknown, names: readonly string[]): void => {
    if (typeof value === 'string') {
      if (value.includes(marker)) for (const name of names) holders.add(name)
      return
    }
    if (Array.isArray(value)) for (const one of value) visit(one, names)
    if (!isObject(value)) return
    const type = typeof value['type'] === 'string' ? [value['type']] : []
    for (const [name, inner] of Object.entries(value)) {
      if (name.includes(marker)) for (const one of [...names, ...type]) holders.add(one)
      visit(inner, [...names, ...type, name])
    }
  }
  const { turns, tools, hostedTools = [], providerOptions = {} } = request
  const holding: readonly object[] = turns.flatMap((turn): readonly object[] =>
    turn.role === 'note' ? [turn] : turn.parts,
  )
  for (const part of holding)
    if ('kind' in part && part.kind === 'reasoning' && JSON.stringify(part).includes(marker))
      holders.add('Reasoning of')
  const natives = [
    ...holding.flatMap(listNatives),
    ...tools.map(({ native }) => native?.data),
    ...hostedTools.map(({ declaration }) => declaration),
    ...Object.values(providerOptions),
  ]
  for (const native of natives) visit(native, [])
  return [...holders]
}

function listNatives(holder: object): unknown[] {
  const { native, content, tools } = holder as { native?: { data?: unknown }; content?: unknown; tools?: unknown }
  const inner = [content, tools].flatMap((list) => (Array.isArray(list) ? (list as object[]).flatMap(listNatives) : []))
  return [native?.data, ...inner]
}
