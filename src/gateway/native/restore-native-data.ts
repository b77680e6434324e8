import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { AssistantPart, AssistantTurn, CallPart, NativeData, Turn, WireId } from '../../model/turn.ts'
import { collectDeclaredTools } from '../../wire/late-tools.ts'
import { dropEnvelopes, findEnvelopes } from './envelope-fields.ts'
import { removeDefaults } from './remove-defaults.ts'
import { type CarriedPart, openEnvelope } from './signature-envelope.ts'

interface RestoreOptions {
  /** The wire of the client. */
  readonly wire: WireId
  /** Who signed what the client's own vendor signed: the model on the same wire that is asked, if there is one. */
  readonly signer?: string
  readonly key: Uint8Array
}

/**
 * Takes native data out of its envelopes and puts it on its parts. The encoder sends it only to the wire and signer that made
 * it, so what another vendor signed is left out by itself.
 */
export function restoreNativeData(
  request: ModelRequest,
  options: RestoreOptions,
): { request: ModelRequest; warnings: Warning[] } {
  const warnings: Warning[] = []
  const schemas = new Map(collectDeclaredTools(request).known.map(({ name, schema }) => [name, schema]))
  const turns = request.turns.map((turn) => restoreTurn(turn, { ...options, schemas }, warnings))
  return { request: { ...request, turns }, warnings }
}

interface TurnOptions extends RestoreOptions {
  /** Of the arguments, by the name of the tool. */
  readonly schemas: ReadonlyMap<string, JsonObject>
}

function restoreTurn(turn: Turn, options: TurnOptions, warnings: Warning[]): Turn {
  const toSigner = <T extends { readonly native?: NativeData }>(holder: T): T => setSigner(holder, options)
  switch (turn.role) {
    case 'assistant':
      return { ...turn, parts: restoreParts(turn, options, warnings) }
    case 'results':
      return {
        ...turn,
        parts: turn.parts.map((part) => toSigner({ ...part, content: part.content.map(toSigner) })),
      }
    case 'user':
      return { ...turn, parts: turn.parts.map(toSigner) }
    case 'note':
      return toSigner(turn)
    default:
      return turn satisfies never
  }
}

/** What was read from the request is marked with the wire; only the model of the same wire can be its signer. */
function setSigner<T extends { readonly native?: NativeData }>(holder: T, { wire, signer }: RestoreOptions): T {
  return holder.native?.wire === wire && signer !== undefined
    ? { ...holder, native: { ...holder.native, signer } }
    : holder
}

function restoreParts(turn: AssistantTurn, options: TurnOptions, warnings: Warning[]): AssistantPart[] {
  const restored: AssistantPart[] = []
  const later: { readonly carried: CarriedPart; readonly at: number; readonly self: AssistantPart | undefined }[] = []
  const found = new Set<number>()
  for (const part of turn.parts) {
    const carried = findEnvelopes(part).flatMap((text) => openOrWarn(text, options.key, warnings))
    const own = findEnvelopes(part).length === 0 ? setSigner(part, options) : withoutEnvelopes(part)
    const reasoning = carried.find(({ kind, text }) => kind === 'reasoning' && text === undefined)
    const isCarrier = part.kind === 'reasoning' && part.text === '' && findEnvelopes(part).length > 0
    let self: AssistantPart | undefined
    if (part.kind === 'reasoning' && reasoning) {
      self = { kind: 'reasoning', text: part.text, native: reasoning.native }
      found.add(reasoning.index)
    } else if (!isCarrier) self = own
    const at = restored.length
    if (self) restored.push(self)
    for (const one of carried) if (one !== reasoning) later.push({ carried: one, at, self })
  }
  // Reasoning is inserted last, because it moves what follows it.
  const ordered = later.toSorted((a, b) => Number(isReasoning(a.carried)) - Number(isReasoning(b.carried)))
  for (const { carried, at, self } of ordered)
    applyCarried(restored, carried, { at, self, found, schemas: options.schemas })
  // What was sent of the reasoning while it was written is in the envelope, too.
  return found.size === 0
    ? restored
    : restored.filter((part) => part.kind !== 'reasoning' || part.native?.data !== undefined)
}

function isReasoning({ kind }: CarriedPart): boolean {
  return kind === 'reasoning'
}

function applyCarried(
  parts: AssistantPart[],
  { kind, index, callId, argumentNames, text, native }: CarriedPart,
  {
    at,
    self,
    found,
    schemas,
  }: { at: number; self: AssistantPart | undefined; found: Set<number> } & Pick<TurnOptions, 'schemas'>,
): void {
  if (kind === 'reasoning') {
    // A client may send the reasoning itself, what a call carries of it, both or neither.
    if (found.has(index)) return
    found.add(index)
    parts.splice(Math.min(index, at), 0, { kind: 'reasoning', text: text ?? '', native })
    return
  }
  const target =
    kind === 'call'
      ? callId === undefined
        ? self
        : parts.find((part) => part.kind === 'call' && isCallId(part, callId))
      : (self ?? parts.slice(0, at).findLast((part) => part.kind === kind))
  const position = target ? parts.indexOf(target) : -1
  if (target?.kind === 'call' && kind === 'call')
    parts[position] = { ...removeDefaults(target, argumentNames, schemas.get(target.name)), native }
  else if (target?.kind === kind) parts[position] = { ...target, native }
  // A part without text only holds data of the vendor.
  else if (kind === 'text') parts.splice(at, 0, { kind: 'text', text: '', native })
}

/** Wires put their prefix before ids of other wires. */
function isCallId(call: CallPart, id: string): boolean {
  const known = call.native?.id ?? call.id
  return ID_PREFIXES.some((prefix) => known === prefix + id)
}

const ID_PREFIXES = ['', 'toolu_', 'call_']

function withoutEnvelopes(part: AssistantPart): AssistantPart {
  const { native, ...others } = part
  if (!native) return part
  const data = dropEnvelopes(native.data)
  return { ...others, native: { wire: native.wire, signer: native.signer, ...defined({ id: native.id, data }) } }
}

function openOrWarn(text: string, key: Uint8Array, warnings: Warning[]): readonly CarriedPart[] {
  const opened = openEnvelope(text, key) ?? []
  if (!('problem' in opened)) return opened
  warnings.push({ code: 'signature-envelope', message: opened.problem })
  return []
}
