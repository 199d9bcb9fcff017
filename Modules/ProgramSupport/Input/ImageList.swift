import Alcedo

/// The images that a command line names, in order.
///
/// Holds names, and makes what is to be loaded of each when its turn comes: a list of a hundred thousand takes some
/// megabytes.
package struct ImageList: Sendable {
    /// What one name stands for.
    package enum Item: Sendable {
        /// A URL, or the path of a file.
        case named(String)
        /// Something that was named and cannot be loaded, and why.
        case unreadable(name: String, reason: String)
        /// An image that is more than its name.
        indirect case image(ImageArgument)
    }

    private let items: [Item]
    private let change: @Sendable (ImageArgument) -> ImageArgument

    /// - Parameter change: Is done to each image before it is loaded. Default: nothing.
    package init(_ items: [Item], changing change: @escaping @Sendable (ImageArgument) -> ImageArgument = { $0 }) {
        self.items = items
        self.change = change
    }

    package init(_ images: [ImageArgument]) { self.init(images.map { .image($0) }) }

    package var count: Int { items.count }

    package var indices: Range<Int> { items.indices }

    /// Traps unless `0 <= index < count`.
    package subscript(index: Int) -> ImageArgument {
        switch items[index] {
        case .named(let text): change(ImageArgument(text))
        case .unreadable(let name, let reason): ImageArgument(name: name, failure: reason)
        case .image(let image): change(image)
        }
    }

    /// The files that these images are read from. Asks the system for each.
    package func files() -> Set<FileIdentity> {
        var files: Set<FileIdentity> = []
        for index in items.indices {
            guard case .success(let request) = self[index].request, case .file(let path) = request.source,
                let file = FileIdentity(path: path)
            else { continue }
            files.insert(file)
        }
        return files
    }
}
