import ExampleSupport

/// The options of how much is told, and how.
struct ReportOptions: Sendable {
    static let help = """
          --json           for scripts: one JSON object a line, with input, output, frame, width, height, bytes, layer,
                           lost and error; null is not known, or none
          --quiet, -q      no summary, no progress, no notes; problems are told

        """

    var report = JobReport(program: "alcedo")

    /// Takes an option and its value. Returns false for one that is about something else.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--json": report.isJSON = true
        case "--quiet", "-q": report.isQuiet = true
        default: return false
        }
        return true
    }
}
