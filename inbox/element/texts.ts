// The words of the element in nine languages; times and numbers come from Intl.
import type { Channel } from '../client/index.ts'

export interface Texts {
  readonly title: string
  readonly unread: string
  readonly all: string
  readonly archived: string
  readonly snoozed: string
  readonly markAllRead: string
  readonly settings: string
  readonly back: string
  readonly empty: string
  readonly more: string
  readonly markRead: string
  readonly markUnread: string
  readonly archive: string
  readonly unarchive: string
  readonly snooze: string
  readonly unsnooze: string
  readonly remove: string
  readonly hour: string
  readonly day: string
  readonly week: string
  readonly failed: string
  readonly retry: string
  readonly received: string
  readonly everything: string
  readonly channels: Readonly<Record<Channel, string>>
}

/** One line for each language, in the order of the names. */
const names =
  'title unread all archived snoozed markAllRead settings back empty more markRead markUnread archive unarchive snooze unsnooze remove hour day week failed retry received everything'.split(
    ' ',
  )
const channelNames = ['email', 'sms', 'in_app', 'chat', 'push'] as const

const lines: Readonly<Record<string, string>> = {
  en: 'Notifications|unread|All|Archived|Snoozed|Mark all as read|Settings|Back|Nothing here yet|Show more|Mark as read|Mark as unread|Archive|Move back to the inbox|Snooze|End snooze|Delete|1 hour|1 day|1 week|Could not connect|Try again|New notification|All notifications|E-mail|SMS|In the app|Chat|Push',
  de: 'Benachrichtigungen|ungelesen|Alle|Archiviert|Später|Alle als gelesen markieren|Einstellungen|Zurück|Noch nichts da|Mehr anzeigen|Als gelesen markieren|Als ungelesen markieren|Archivieren|Zurück in den Posteingang|Später erinnern|Jetzt wieder anzeigen|Löschen|1 Stunde|1 Tag|1 Woche|Keine Verbindung|Erneut versuchen|Neue Benachrichtigung|Alle Benachrichtigungen|E-Mail|SMS|In der App|Chat|Push',
  fr: 'Notifications|non lues|Toutes|Archivées|En pause|Tout marquer comme lu|Paramètres|Retour|Rien pour le moment|Afficher plus|Marquer comme lue|Marquer comme non lue|Archiver|Remettre dans la boîte|Mettre en pause|Réafficher maintenant|Supprimer|1 heure|1 jour|1 semaine|Connexion impossible|Réessayer|Nouvelle notification|Toutes les notifications|E-mail|SMS|Dans l’application|Messagerie|Push',
  es: 'Notificaciones|sin leer|Todas|Archivadas|Pospuestas|Marcar todo como leído|Ajustes|Volver|Aún no hay nada|Mostrar más|Marcar como leída|Marcar como no leída|Archivar|Devolver a la bandeja|Posponer|Mostrar ahora|Eliminar|1 hora|1 día|1 semana|No se pudo conectar|Reintentar|Nueva notificación|Todas las notificaciones|Correo|SMS|En la aplicación|Chat|Push',
  it: 'Notifiche|non lette|Tutte|Archiviate|Posticipate|Segna tutto come letto|Impostazioni|Indietro|Ancora niente|Mostra altro|Segna come letta|Segna come non letta|Archivia|Riporta nella posta|Posticipa|Mostra ora|Elimina|1 ora|1 giorno|1 settimana|Connessione non riuscita|Riprova|Nuova notifica|Tutte le notifiche|E-mail|SMS|Nell’app|Chat|Push',
  pt: 'Notificações|não lidas|Todas|Arquivadas|Adiadas|Marcar tudo como lido|Definições|Voltar|Ainda não há nada|Mostrar mais|Marcar como lida|Marcar como não lida|Arquivar|Voltar à caixa de entrada|Adiar|Mostrar agora|Eliminar|1 hora|1 dia|1 semana|Sem ligação|Tentar de novo|Nova notificação|Todas as notificações|E-mail|SMS|Na aplicação|Chat|Push',
  ja: '通知|未読|すべて|アーカイブ|スヌーズ中|すべて既読にする|設定|戻る|まだ通知はありません|もっと見る|既読にする|未読にする|アーカイブする|受信トレイに戻す|スヌーズ|スヌーズを終了|削除|1時間|1日|1週間|接続できません|再試行|新しい通知|すべての通知|メール|SMS|アプリ内|チャット|プッシュ',
  zh: '通知|未读|全部|已归档|已推迟|全部标为已读|设置|返回|暂无通知|显示更多|标为已读|标为未读|归档|移回收件箱|稍后提醒|取消推迟|删除|1 小时|1 天|1 周|无法连接|重试|新通知|所有通知|邮件|短信|应用内|聊天|推送',
  ar: 'الإشعارات|غير مقروءة|الكل|المؤرشفة|المؤجلة|تحديد الكل كمقروء|الإعدادات|رجوع|لا شيء هنا بعد|عرض المزيد|تحديد كمقروء|تحديد كغير مقروء|أرشفة|إعادة إلى الوارد|تأجيل|إنهاء التأجيل|حذف|ساعة واحدة|يوم واحد|أسبوع واحد|تعذر الاتصال|إعادة المحاولة|إشعار جديد|كل الإشعارات|البريد الإلكتروني|رسالة نصية|داخل التطبيق|محادثة|إشعار فوري',
}

export const locales = Object.keys(lines)

/** In the language of a locale such as `pt-BR`; English for all others. */
export function textsFor(locale: string): Texts {
  const line = lines[languageOf(locale)] ?? lines['en'] ?? ''
  const parts = line.split('|')
  const channels = Object.fromEntries(channelNames.map((name, index) => [name, parts[names.length + index] ?? name]))
  return { ...Object.fromEntries(names.map((name, index) => [name, parts[index]])), channels } as unknown as Texts
}

const languageOf = (locale: string): string => locale.split('-')[0]?.toLowerCase() ?? ''

const rightToLeft = ['ar', 'fa', 'he', 'ur']

export const directionOf = (locale: string): 'ltr' | 'rtl' => (rightToLeft.includes(languageOf(locale)) ? 'rtl' : 'ltr')

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** `3 hours ago`, or `in 2 days`. */
export function relativeTime(locale: string, iso: string, nowMs: number): string {
  const seconds = (new Date(iso).getTime() - nowMs) / 1000
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return format.format(Math.trunc(seconds / length), unit)
  }
  return format.format(0, 'second')
}
