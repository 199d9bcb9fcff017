import Alcedo
import AlcedoRuntime

/// The images of a command line, in order.
///
/// The list stores names and creates each request on access. A list of 100,000 images takes a few megabytes.
struct ImageList: Sendable {
    enum Item: Sendable {
        /// A URL or the path of a file.
        case named(String)
        /// A name that cannot be loaded, with the reason.
        case unreadable(name: String, reason: String)
        /// An image with its own request.
        indirect case image(ImageArgument)
    }

    /// The directories of the command line with files that are not images.
    let skipped: [SkippedFiles]
    private let items: [Item]
    private let change: @Sendable (ImageArgument) -> ImageArgument

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - items: The items, in order.
    ///   - skipped: The directories with files that are not images. Default: none.
    ///   - change: Transforms each image on access. By default, images are unchanged.
    init(
        _ items: [Item], skipped: [SkippedFiles] = [],
        changing change: @escaping @Sendable (ImageArgument) -> ImageArgument = { $0 }
    ) {
        self.items = items
        self.skipped = skipped
        self.change = change
    }

    init(_ images: [ImageArgument]) { self.init(images.map { .image($0) }) }

    var count: Int { items.count }

    var indices: Range<Int> { items.indices }

    /// Returns the image at an index.
    ///
    /// - Precondition: `0 <= index < count`
    subscript(index: Int) -> ImageArgument {
        switch items[index] {
        case .named(let text): change(ImageArgument(text))
        case .unreadable(let name, let reason): ImageArgument(name: name, failure: reason)
        case .image(let image): change(image)
        }
    }

    /// Returns the identities of the existing files among the images. Queries the file system once for each file.
    func files() -> Set<FileIdentity> {
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

/// The files below a directory that are not images.
struct SkippedFiles: Sendable {
    /// The directory, as named on the command line.
    var directory: String
    var count: Int
}
