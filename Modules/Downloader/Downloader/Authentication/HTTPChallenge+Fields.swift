public import AlcedoCore

extension HTTPChallenge {
    /// The challenges of an answer 401, in order; what cannot be read is left out.
    public static func challenges(in fields: HTTPFields) -> [HTTPChallenge] {
        fields.values(of: "WWW-Authenticate").flatMap { line in
            var parser = HTTPChallengeParser(line)
            return parser.parse()
        }
    }
}
