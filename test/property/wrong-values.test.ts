import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { wires } from '../support/cases.ts'
import { BODY_RULES, REQUEST_BODIES } from '../support/request-bodies.ts'
import { WIRES } from '../support/seals.ts'
import { listWrongValues, traceUnknownMember } from '../support/unknown-members.ts'

describe('a value of a wrong type is kept, or a warning names it', () => {
  for (const wire of WIRES)
    it(wire, () => {
      const dropped: string[] = []
      const counts = { kept: 0, warned: 0, dropped: 0 }
      for (const body of REQUEST_BODIES[wire])
        for (const member of listWrongValues(body, BODY_RULES[wire])) {
          const fate = traceUnknownMember(wires[wire], member, {
            ...wires[wire].profile,
            systemNotes: true,
            lateTools: 'native',
          })
          counts[fate]++
          if (fate === 'dropped') dropped.push(member.path)
        }
      console.log(`${wire}: ${counts.kept} kept, ${counts.warned} warned of`)
      assert.deepEqual(dropped.slice(0, 20), [], `${dropped.length} dropped`)
    })
})
