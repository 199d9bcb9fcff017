import ExampleSupport
import FoundationEssentials

/// The names of the files that are made of images, no two alike.
struct FileNames: Sendable {
    private let stems: [String]
    private let ending: String

    /// Names after the images'.
    init(of images: ImageList, fileExtension: String) {
        var names = UniqueNames()
        stems = images.indices.map { names.unique(images[$0].fileStem) }
        ending = ".\(fileExtension)"
    }

    /// The name of an image's file, or of one of its frames': no image's name ends with a plus sign and a number.
    func name(_ index: Int, frame: Int?) -> String {
        guard let frame else { return stems[index] + ending }
        let digits = "\(frame)"
        return "\(stems[index])+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)\(ending)"
    }

    /// Names that may be written to a folder.
    ///
    /// - Parameter hasFrames: Whether those of frames count, of which nobody knows how many there will be: then only such
    ///   names are told as are in the folder already.
    func all(in folder: String, hasFrames: Bool) -> [String] {
        guard hasFrames else { return stems.map { $0 + ending } }
        let known = Set(stems)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { name in
            guard name.hasSuffix(ending) else { return false }
            let stem = name.dropLast(ending.count)
            return known.contains(String(stem))
                || known.contains(String(stem[..<(stem.lastIndex(of: "+") ?? stem.endIndex)]))
        }
    }
}
