#if GTK
    import Alcedo
    import Foundation
    import Synchronization

    /// One picture of the gallery.
    struct GalleryItem: Sendable {
        /// What a person calls it, and searches for.
        var name: String
        /// Where it is from, as shown with its details.
        var origin: String
        var request: ImageRequest
        /// The number that the picture itself shows; nil for pictures that are not drawn here.
        var number: Int?
    }

    extension GalleryItem {
        /// A URL or a path, as a person writes it.
        init(named text: String) {
            let scheme = text.prefix { $0 != ":" }.lowercased()
            let url = text.contains("://") || scheme == "data" ? URL(string: text) : nil
            let request = url.map { ImageRequest(url: $0) } ?? ImageRequest(source: .file(text))
            // Shown on screen: without a password, and not megabytes long.
            var origin = scheme == "data" ? "\(text.prefix(40))..." : text
            if let password = url?.password(percentEncoded: true), !password.isEmpty {
                origin = origin.replacing(":\(password)@", with: ":...@")
            }
            let name = origin.split(separator: "/").last.map(String.init) ?? origin
            self.init(name: name, origin: origin, request: request)
        }
    }

    /// The pictures that lines of standard input name, told as the lines come.
    final class InputNames: Sendable {
        /// How many are read at most.
        static let limit = 50_000

        private struct Pending {
            var items: [GalleryItem] = []
            var isOver = false
            var isTaken = true
        }

        private let pending = Mutex(Pending())

        /// Reads until the end or the limit, on a thread of its own.
        ///
        /// - Parameter deliver: Gets what has come since the last call, and whether nothing more will.
        func read(_ deliver: @escaping @MainActor ([GalleryItem], _ isOver: Bool) -> Void) {
            Thread.detachNewThread { [self] in
                var count = 0
                while count < Self.limit, let line = readLine() {
                    guard !line.isEmpty else { continue }
                    count += 1
                    let item = GalleryItem(named: line)
                    post(deliver) { $0.items.append(item) }
                }
                post(deliver) { $0.isOver = true }
            }
        }

        /// All that comes until the main actor looks is one call.
        private func post(
            _ deliver: @escaping @MainActor ([GalleryItem], _ isOver: Bool) -> Void, _ change: (inout Pending) -> Void
        ) {
            let isFirst = pending.withLock { pending in
                change(&pending)
                defer { pending.isTaken = false }
                return pending.isTaken
            }
            guard isFirst else { return }
            Task { @MainActor in
                let batch = pending.withLock { pending in
                    defer { pending = Pending() }
                    return pending
                }
                deliver(batch.items, batch.isOver)
            }
        }
    }
#endif
