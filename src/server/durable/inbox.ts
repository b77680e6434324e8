import type { Inbox, InboxMessage } from '../backend.ts'
import { type Database, listen, queryAgain } from './database.ts'
import { getSessionChannel } from './names.ts'
import { type Closable, createSubscriptions } from './subscriptions.ts'

/** The messages to sessions in a table. Of those that were removed only the id stays, so that none is added twice. */
export function createInbox({ client }: Database, schema: string): Inbox & Closable {
  const subscriptions = createSubscriptions()
  const table = `"${schema}".inbox`
  const inbox: Inbox & Closable = {
    async put(key, message) {
      await queryAgain(
        client,
        `with added as (
           insert into ${table} (tenant, session, id, message) values ($1, $2, $3, $4) on conflict do nothing returning id
         )
         select pg_notify($5, 'put') from added`,
        [key.tenant, key.session, message.id, JSON.stringify(message), getSessionChannel(schema, 'inbox', key)],
      )
    },
    async list({ tenant, session }) {
      const text = `select message from ${table} where tenant = $1 and session = $2 and message is not null order by position`
      const rows = await queryAgain(client, text, [tenant, session])
      return rows.map(({ message }) => JSON.parse(String(message)) as InboxMessage)
    },
    async remove({ tenant, session }, ids) {
      await queryAgain(
        client,
        `update ${table} set message = null
         where tenant = $1 and session = $2 and id in (select jsonb_array_elements_text($3::jsonb)) and message is not null`,
        [tenant, session, JSON.stringify(ids)],
      )
    },
    watch(key, onChange) {
      let isStopped = false
      const call = (): void => void (isStopped || onChange())
      const listening = listen(client, getSessionChannel(schema, 'inbox', key), (payload) => {
        if (payload !== '') return call()
        // Something may have been put that nobody was told of.
        inbox.list(key).then((messages) => messages.length > 0 && call(), call)
      })
      subscriptions.add(listening)
      return {
        stop() {
          isStopped = true
          subscriptions.delete(listening)
          void listening.stop()
        },
      }
    },
    close: () => subscriptions.close(),
  }
  return inbox
}
