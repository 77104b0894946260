// Writes the times of a page, which are in UTC, in the zone and language of the reader.
(() => {
  'use strict'
  const lang = document.documentElement.lang
  const clock = new Intl.DateTimeFormat(lang, { dateStyle: 'long', timeStyle: 'short' })
  const day = new Intl.DateTimeFormat(lang, { dateStyle: 'long' })
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    // What cannot be read stays as the server wrote it.
    if (Number.isNaN(at.getTime())) continue
    time.textContent = ('day' in time.dataset ? day : clock).format(at)
  }
})()
