import { type JsonObject, filterObjects, stringOrEmpty } from '../../model/json.ts'
import { createFieldFilter } from '../other-fields.ts'
import type { TextStream } from '../turn/text-stream.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { type JsonFields, MEDIA_FIELDS, TEXT_FIELDS, toMediaPart } from './content.ts'
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
    const fields = pickTextFields(content)
    if (!fields) return
    const { annotations, ...others } = fields
    Object.assign(text.fields, others)
    const found = filterObjects(annotations) as JsonObject[]
    const before = filterObjects(text.fields['annotations']) as JsonObject[]
    if (found.length > 0) text.fields['annotations'] = [...before, ...found]
  }

  function addMedia(content: JsonFields): void {
    const media = toMediaPart(content)
    if (!media) return warnDropped(builder, stringOrEmpty(content['type']), content)
    closeText()
    const fields = pickMediaFields(content)
    builder.addPart({ ...media, native: builder.createNative(undefined, fields && { fields }) })
  }

  function add(content: JsonFields, type: string): void {
    if (type === 'model_output')
      for (const one of filterObjects(content['content'])) add(one, stringOrEmpty(one['type']))
    else if (type === 'text') addText(content)
    else if (type === 'text_annotation_delta') addAnnotations(content)
    else if (type === 'arguments_delta' && readArguments(content) !== '')
      builder.markCorrupt('The output contained call arguments (T190).')
    else addMedia({ ...content, type })
  }

  function addAnnotations(delta: JsonFields): void {
    builder.warnOtherFields('a delta', pickAnnotationFields(delta))
    addText({ annotations: delta['annotations'] })
  }

  builder.warnOtherFields('an output', pickStepFields(step))
  add(step, 'model_output')
  return { add, close: closeText }
}

const pickTextFields = createFieldFilter(TEXT_FIELDS)
const pickMediaFields = createFieldFilter(MEDIA_FIELDS)
const pickAnnotationFields = createFieldFilter('type annotations')

/** A step with output is not kept itself, only its content. */
const pickStepFields = createFieldFilter('type content')
