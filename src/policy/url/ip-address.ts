/** Returns the kind of a non-public address, or undefined if it is public. Unwraps IPv4 addresses inside IPv6 ones. */
export function describeNonPublicAddress(text: string): string | undefined {
  const bytes = parseAddress(text)
  if (!bytes) return `${text} is not an address`
  return bytes.length === 4 ? describeNonPublicIpv4(bytes) : describeNonPublicIpv6(bytes)
}

export function isIpAddress(text: string): boolean {
  return parseAddress(text) !== undefined
}

type AddressBytes = readonly number[]

/**
 * No library is used: their ranges have gaps (cloud host agents, translation and discard prefixes), and parsing the
 * canonical form of an address is short.
 */
const NON_PUBLIC_IPV4: readonly (readonly [range: string, what: string])[] = [
  ['0.0.0.0/8', 'this machine'],
  ['10.0.0.0/8', 'a private network'],
  ['100.64.0.0/10', 'a network of a carrier or a cloud'],
  ['127.0.0.0/8', 'this machine'],
  ['168.63.129.16/32', 'the host agent of a cloud'],
  ['169.254.0.0/16', 'the local link, where clouds keep their metadata'],
  ['172.16.0.0/12', 'a private network'],
  ['192.0.0.0/24', 'a range for protocols'],
  ['192.0.2.0/24', 'a range for documentation'],
  ['192.88.99.0/24', 'an old relay'],
  ['192.168.0.0/16', 'a private network'],
  ['198.18.0.0/15', 'a range for tests'],
  ['198.51.100.0/24', 'a range for documentation'],
  ['203.0.113.0/24', 'a range for documentation'],
  ['224.0.0.0/4', 'many machines at once'],
  ['240.0.0.0/4', 'a reserved range'],
]

/** Only 2000::/3 is public, except these. */
const NON_PUBLIC_IPV6: readonly (readonly [range: string, what: string])[] = [
  ['2001::/23', 'a range for protocols and tunnels'],
  ['2001:db8::/32', 'a range for documentation'],
  ['3fff::/20', 'a range for documentation'],
]

function describeNonPublicIpv4(bytes: AddressBytes): string | undefined {
  return NON_PUBLIC_IPV4.find(([range]) => isInRange(bytes, range))?.[1]
}

function describeNonPublicIpv6(bytes: AddressBytes): string | undefined {
  // Mapped addresses, and the translation prefix that IPv6-only networks use.
  if (isInRange(bytes, '::ffff:0:0/96') || isInRange(bytes, '64:ff9b::/96'))
    return describeNonPublicIpv4(bytes.slice(12))
  if (bytes.every((byte) => byte === 0)) return 'this machine'
  if (isInRange(bytes, '::1/128')) return 'this machine'
  if (!isInRange(bytes, '2000::/3')) return 'a network that is not public'
  const listed = NON_PUBLIC_IPV6.find(([range]) => isInRange(bytes, range))?.[1]
  if (listed !== undefined) return listed
  // 6to4 contains an IPv4 address after its prefix, ISATAP at its end.
  if (isInRange(bytes, '2002::/16')) return describeNonPublicIpv4(bytes.slice(2, 6))
  const isatap = (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return isatap ? describeNonPublicIpv4(bytes.slice(12)) : undefined
}

function isInRange(bytes: AddressBytes, range: string): boolean {
  const [base = '', length = ''] = range.split('/')
  const prefix = parseAddress(base)
  if (prefix?.length !== bytes.length) return false
  for (let bits = Number(length), index = 0; bits > 0; bits -= 8, index++) {
    const mask = bits >= 8 ? 0xff : (0xff << (8 - bits)) & 0xff
    if (((bytes[index] ?? 0) & mask) !== ((prefix[index] ?? 0) & mask)) return false
  }
  return true
}

/** Parses the canonical form, optionally in brackets. */
function parseAddress(text: string): AddressBytes | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return bare.includes(':') ? parseIpv6(bare) : parseIpv4(bare)
}

function parseIpv4(text: string): AddressBytes | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return undefined
  }
  return parts.map(Number)
}

function parseIpv6(text: string): AddressBytes | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = [parseIpv6Groups(halves[0] ?? ''), parseIpv6Groups(halves[1] ?? '')]
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined
  return [...head, ...Array.from({ length: missing }, () => 0), ...tail]
}

/** Groups of two bytes; the last one may be an IPv4 address. */
function parseIpv6Groups(text: string): AddressBytes | undefined {
  if (text === '') return []
  const groups = text.split(':')
  const bytes = groups.map((group, index) => {
    if (group.includes('.') && index === groups.length - 1) return parseIpv4(group)
    const value = /^[0-9a-f]{1,4}$/.test(group) ? Number.parseInt(group, 16) : undefined
    return value === undefined ? undefined : [value >> 8, value & 0xff]
  })
  return bytes.every((one) => one !== undefined) ? bytes.flat() : undefined
}
