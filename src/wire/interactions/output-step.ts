import { type JsonObject, filterObjects, stringOrEmpty } from '../../model/json.ts'
import type { TextStream } from '../turn/text-stream.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { type JsonFields, MEDIA_FIELDS, pickOtherFields, TEXT_FIELDS, toMediaPart } from './content.ts'
import { readArguments, warnDropped } from './deltas.ts'

/** The visible output of the model: text, with its citations, and media. */
export function createOutputStep(builder: TurnBuilder, step: JsonFields) {
  let text: { readonly stream: TextStream; readonly fields: JsonObject } | undefined

  function closeText(): void {
    if (!text) return
    const { stream, fields } = text
    stream.close(Object.keys(fields).length > 0 ? builder.createNative(undefined, { fields }) : undefined)
    text = undefined
  }

  function addText(content: JsonFields): void {
    text ??= { stream: builder.openText('text'), fields: {} }
    text.stream.append(stringOrEmpty(content['text']))
    const fields = pickOtherFields(content, TEXT_FIELDS)
    if (!fields) return
    const { annotations, ...others } = fields
    Object.assign(text.fields, others)
    const found = filterObjects(annotations) as JsonObject[]
    const before = filterObjects(text.fields['annotations']) as JsonObject[]
    if (found.length > 0) text.fields['annotations'] = [...before, ...found]
  }

  function addMedia(content: JsonFields): void {
    const media = toMediaPart(content)
    if (!media) return warnDropped(builder, stringOrEmpty(content['type']))
    closeText()
    const fields = pickOtherFields(content, MEDIA_FIELDS)
    builder.addPart({ ...media, native: builder.createNative(undefined, fields && { fields }) })
  }

  function add(content: JsonFields, type: string): void {
    if (type === 'model_output')
      for (const one of filterObjects(content['content'])) add(one, stringOrEmpty(one['type']))
    else if (type === 'text') addText(content)
    else if (type === 'text_annotation_delta') addText({ annotations: content['annotations'] })
    else if (type === 'arguments_delta' && readArguments(content) !== '')
      builder.markCorrupt('The output contained call arguments (T190).')
    else addMedia({ ...content, type })
  }

  add(step, 'model_output')
  return { add, close: closeText }
}
