import Alcedo
import AlcedoLibc
import FoundationEssentials

/// Finds images in folders, and in the folders there, told by their names' ends. Names that begin with a dot are left out.
struct ImageFolders {
    private static let endings: Set = ["png", "apng", "jpg", "jpeg", "gif", "webp"]

    /// Each folder is looked at once, however many links lead to it.
    private var seen: Set<FileIdentity> = []

    /// In the order of their names; nil when the path is no folder's.
    mutating func images(below path: String) -> [ImageList.Item]? {
        guard Self.isFolder(path) else { return nil }
        // Asked for again, it is there again; only going round in circles is not.
        seen = []
        var items: [ImageList.Item] = []
        walk(path, into: &items)
        return items
    }

    private mutating func walk(_ folder: String, into items: inout [ImageList.Item]) {
        guard let identity = FileIdentity(path: folder), seen.insert(identity).inserted else { return }
        var names: [String] = []
        let number = FolderListing.forEachName(in: folder, followsLink: true) { bytes in
            guard bytes.first != UInt8(ascii: ".") else { return }
            if let name = String(validating: bytes, as: UTF8.self) {
                names.append(name)
            } else if Self.isImage(String(decoding: bytes, as: UTF8.self)) {
                let name = "\(folder)/\(String(decoding: bytes, as: UTF8.self))"
                items.append(.trouble(name: name, reason: "the name is not UTF-8"))
            }
        }
        if number != 0 {
            let reason = String(cString: strerror(number))
            items.append(.trouble(name: folder, reason: "cannot list the folder: \(reason)"))
        }
        for name in names.sorted() {
            let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
            if Self.isFolder(path) {
                walk(path, into: &items)
            } else if Self.isImage(name) {
                items.append(.named(path))
            }
        }
    }

    private static func isImage(_ name: String) -> Bool {
        name.lastIndex(of: ".").map { endings.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
    }
}
