import { ENDPOINTS } from '../../wire/endpoint.ts'
import { getJson, listAddress } from '../list-models.ts'
import { addressSource, type Target } from '../target.ts'
import type { Post } from '../transport.ts'

/** What an endpoint says to a key: it takes it, it refuses it, or it cannot be asked. */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly refused: boolean; readonly why: string }

/** Tries a key at an endpoint with a request that costs nothing: the list of models, or whatever the row names. */
export async function checkKey(target: Target, post: Post): Promise<Verdict> {
  const { row, wire, baseUrl } = target
  const url = row.check === undefined ? listAddress(target) : new URL(`${baseUrl}${row.check}`)
  const no = (why: string, refused = false): Verdict => ({ ok: false, refused, why })
  if (!url) return no(`${row.id} has nothing at which a key can be tried`)
  const answered = await getJson(target, url, post)
  if ('kind' in answered) return no(answered.message)
  const { status, json } = answered
  if (status === 401 || status === 403 || status === ENDPOINTS[wire].badKeyStatus)
    return no(`${row.id} refuses it (${status})`, true)
  if (status >= 300) return no(`${row.id} answered ${status}`)
  // A page that asks people to sign in to a network answers every key with 200.
  return json === undefined
    ? no(`${row.id} (${url.host}) answered with something else than JSON; check ${addressSource(target)}`)
    : { ok: true }
}
