#if GTK
    import Alcedo
    import Foundation
    import Synchronization

    /// One image of the gallery.
    struct GalleryItem: Sendable {
        /// The name, which is displayed and searched.
        var name: String
        /// The origin, as shown in the details.
        var origin: String
        var request: ImageRequest
        /// The number that is drawn into the image; nil for images that are not drawn by the gallery.
        var number: Int?
    }

    extension GalleryItem {
        /// Creates an item from a URL or a path, as a user enters it.
        init(named text: String) {
            let scheme = text.prefix { $0 != ":" }.lowercased()
            let url = text.contains("://") || scheme == "data" ? URL(string: text) : nil
            let request = url.map { ImageRequest(url: $0) } ?? ImageRequest(source: .file(text))
            // The origin is shown on screen, so it has no password and is not megabytes long.
            var origin = scheme == "data" ? "\(text.prefix(40))..." : text
            if let password = url?.password(percentEncoded: true), !password.isEmpty {
                origin = origin.replacing(":\(password)@", with: ":...@")
            }
            let name = origin.split(separator: "/").last.map(String.init) ?? origin
            self.init(name: name, origin: origin, request: request)
        }
    }

    /// A reader of image names from standard input, one per line, which delivers them as they arrive.
    final class InputNames: Sendable {
        /// The maximum number of names that are read.
        static let limit = 50_000

        private struct Pending {
            var items: [GalleryItem] = []
            var isOver = false
            var isTaken = true
        }

        private let pending = Mutex(Pending())

        /// Reads names on a separate thread until the end of the input or the limit.
        ///
        /// - Parameter deliver: A closure that receives the items read since the last call, and whether the input has
        ///   ended.
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

        /// Changes the pending items. All changes before the main actor runs are delivered in one call.
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
