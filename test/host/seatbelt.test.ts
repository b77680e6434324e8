import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeatbeltProfile } from '../../src/host/sandbox/seatbelt.ts'

// The profile is only read here: sandbox-exec exists on macOS alone.

const LAYOUT = {
  hidden: ['/Users/me'],
  shown: ['/Users/me/.nvm'],
  workspace: ['/Users/me/work "x"'],
  writable: ['/Users/me/work "x"'],
  privateCaches: [],
  masked: [{ path: '/Users/me/work "x"/.ssh', isFolder: true }],
}
const GUARD = { anchors: [{ path: '/Users/me/work "x"/.git' }], fixed: [{ path: '/Users/me/work "x"/.git/hooks' }] }
const BOX = { layout: LAYOUT, guard: GUARD, scratch: ['/private/scratch'], network: false }

/** Where a rule stands; later rules win. */
function at(profile: string, rule: string, place: string): number {
  const found = profile.split('\n(').findIndex((one) => one.startsWith(rule) && one.includes(place))
  assert.notEqual(found, -1, `${rule} … ${place} is missing in\n${profile}`)
  return found
}

test('what is narrower stands further down, so that it wins', () => {
  const profile = createSeatbeltProfile(BOX)
  const order = [
    at(profile, 'deny file-write*', ')'),
    at(profile, 'allow file-write*', '(subpath "/Users/me/work \\"x\\"")'),
    at(profile, 'deny file-read*', '(subpath "/Users/me")'),
    at(profile, 'allow file-read*', '(subpath "/Users/me/.nvm")'),
    at(profile, 'deny file-read* file-write*', '(subpath "/Users/me/work \\"x\\"/.ssh")'),
    at(profile, 'deny file-write*\n', '(subpath "/Users/me/work \\"x\\"/.git/hooks")'),
  ]
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  )
  assert.ok(at(profile, 'deny file-write-unlink', '(literal "/Users/me/work \\"x\\"/.git")') > 0)
})

test('the network is closed but for loopback, unless it is allowed', () => {
  const closed = createSeatbeltProfile(BOX)
  assert.ok(at(closed, 'deny network*', ')') < at(closed, 'allow network-outbound', 'localhost'))
  assert.doesNotMatch(createSeatbeltProfile({ ...BOX, network: true }), /network/)
})

test('it is one balanced expression after the other, whatever the names are', () => {
  for (const name of ['/a b', '/a"b', '/a\\b', '/a)b', '/a\\"']) {
    const profile = createSeatbeltProfile({ ...BOX, layout: { ...LAYOUT, writable: [name] } })
    assert.equal(depthOf(profile), 0)
  }
})

/** How many brackets are open at the end, those inside quotes left out. */
function depthOf(profile: string): number {
  const bare = profile.replace(/"(?:[^"\\]|\\.)*"/g, '')
  assert.doesNotMatch(bare, /"/)
  return bare.split('(').length - bare.split(')').length
}

test('nothing is said of places that there are not', () => {
  const none = { hidden: [], shown: [], workspace: [], writable: [], privateCaches: [], masked: [] }
  const profile = createSeatbeltProfile({ layout: none, guard: { anchors: [], fixed: [] }, scratch: [], network: true })
  assert.doesNotMatch(profile, /\([a-z-]+ [a-z*-]+\s*\)\n\(deny file-read\* file/)
  assert.match(profile, /^\(version 1\)\n\(allow default\)\n\(deny file-write\*\)\n/)
})
