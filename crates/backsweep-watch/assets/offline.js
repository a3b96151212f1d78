// Keeps this version of the page, so that it opens without a network. scripts/site fills in the files and the version.

const VERSION = "backsweep-{version}";
const FILES = ["./", {files}];

self.addEventListener("install", (event) => {
  const keep = async () => (await caches.open(VERSION)).addAll(FILES.map((file) => new Request(file, { cache: "reload" })));
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const tidy = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("backsweep-") && name !== VERSION);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(tidy());
});

// All files are of one version, from the cache. The address of the page holds a scene, which is not part of its name.
self.addEventListener("fetch", (event) => {
  const find = async () => (await (await caches.open(VERSION)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  if (event.request.method === "GET") event.respondWith(find());
});
