import Alcedo
import ExampleSupport
import FoundationEssentials

/// `alcedo inspect`
struct InspectCommand: ToolCommand {
    static let name = "inspect"
    static let help =
        """
        usage: alcedo inspect URL|FILE|FOLDER... [options]

        Says what images are, without decoding a pixel unless --pixels asks for it.

          --pixels         decode every frame, and print the SHA-256 of its rows: straight RGBA of 8 bits, top row first,
                           as stored (no orientation, gamma or profile applied)
          --json           for scripts: one JSON object a line, one for every image, in order, with input, error and
                           what is known
          --quiet, -q      no reports: the exit status says whether all can be read, and problems are told

        """ + InputOptions.help + NetworkOptions.help

    private var inputs = InputOptions()
    private var network = NetworkOptions()
    private var isJSON = false
    private var isQuiet = false
    private var decodesPixels = false

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--json": isJSON = true
        case "--quiet", "-q": isQuiet = true
        case "--pixels": decodesPixels = true
        default: return try inputs.take(option, from: &arguments) || network.take(option, from: &arguments)
        }
        return true
    }

    mutating func finish(_ words: [String]) throws { try inputs.take(words, for: Self.name) }

    func run() async throws -> ExitStatus {
        let images = try await inputs.images(changing: network.apply)
        let log = network.isVerbose ? TransferLog { Console.note($0) } : nil
        // Nothing is kept on disk: what a server has now is what is wanted.
        let downloader = try network.downloader(parts: nil, downloads: images.count, log: log)
        let inspector = Inspector(codecs: .standard, limits: inputs.limits, decodesPixels: decodesPixels)
        let decoding = BlockingExecutor(name: "alcedo.inspect", width: 1)
        var status = ExitStatus.success
        // One after another: a list of any length needs the memory of one image.
        for index in images.indices {
            let image = images[index]
            var report = ImageReport(input: image.path)
            do {
                let source = try image.request.get().source
                let data = try await downloader.download(DownloadRequest(source), progress: nil).data
                let blank = report
                report = try await decoding.run { inspector.inspect(data, blank) }
            } catch {
                let isEmpty = (error as? DownloadError)?.code == .empty
                report.error = "\(isEmpty ? "empty" : "unreadable"): \(image.withoutPassword("\(error)"))"
            }
            if report.error != nil { status = .failure }
            if let error = report.error, !isJSON || isQuiet { Console.problem("alcedo: \(image.name): \(error)") }
            if !isQuiet { Console.output(isJSON ? try JSONLine.text(of: report) : report.text) }
        }
        if let log { Console.note(log.summary) }
        return status
    }
}
