// The rules of html-validate for the pages that pollmatrix writes: the recommended ones.
module.exports = {
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    // Ids have dots, and may begin with a digit: `catalogue.html#2.7` is a published address. HTML allows every id without spaces.
    "valid-id": ["error", { relaxed: true }],
  },
};
